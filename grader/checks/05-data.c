/* 05-data.c -- the rows of lab 05. How they run: 05-formats.c, 05-pictures.c, 05-samplers.c, 05-ring.c,
 * 05-loader.c. */
#include "checks/05-data.h"

// clang-format off
static const data_case idx_cases[] = {
    { { 1, "images and labels",
        "the most significant byte comes first; labels have a count only, images rows and cols too" },
      MG_IDX_GOOD, 0 },
    { { 1, "a large count", "bytes above 127: shift unsigned values" }, MG_IDX_HIGH_BYTES, 0 },
    { { 1, "a file cut short", "compare the header's count with what the file holds", MG_EASY }, MG_IDX_SHORT, 0 },
    { { 1, "a file too long", "a file with more bytes than the header says must be refused too", MG_EASY },
      MG_IDX_LONG, 0 },
    { { 1, "cut inside an image",
        "the bytes after the header must be a whole number of items: else return -1", MG_EASY },
      MG_IDX_TORN, 0 },
    { { 1, "a hostile header", "count * rows * cols overflows; divide the bytes instead" }, MG_IDX_HOSTILE, 0 },
};
static const data_case pixels_cases[] = {
    { { 2, "normalised", "b * (1 / stddev) - mean / stddev" }, 0, 0 },
};
static const data_case tokens_cases[] = {
    { { 1, "good files", "2 or 4 bytes a token, 24 bytes of header", MG_EASY }, MG_TOKENS_GOOD, 0 },
    { { 1, "tokens of other sizes", "only 2 and 4 are allowed; check before dividing by it" }, MG_TOKENS_SIZE, 0 },
    { { 1, "odd length", "the bytes after the header must be a whole number of tokens" }, MG_TOKENS_ODD, 0 },
    { { 1, "another count", "compare with the header's count, both ways" }, MG_TOKENS_SHORT, 0 },
    { { 1, "a hostile count", "count * size overflows; divide the bytes instead" }, MG_TOKENS_HOSTILE, 0 },
};
static const data_case windows_cases[] = {
    { { 1, "how many fit", "the last window needs token start + T too" }, 0, 0 },
};
static const data_case window_cases[] = {
    { { 2, "u16 tokens", "y is x one token later; ids above 32767 are positive" }, 2, 0 },
    { { 2, "i32 tokens", "y is x one token later" }, 4, 0 },
};
static const data_case resize_cases[] = {
    { { 2, "larger", "the centre of pixel i is i + 0.5; edges are repeated; round to nearest" }, 1, 0 },
    { { 2, "smaller", "from / to, not to / from" }, 2, 0 },
    { { 1, "the same size", "every pixel keeps its value" }, 3, 0 },
};
static const data_case choose_cases[] = {
    { { 2, "random crop, colours", "draw six numbers in the order of the header; a margin of 10 has 11 positions" },
      1, 1 },
    { { 2, "middle crop, no colours",
        "place is top, left, flip and the stream's next number: also draw the numbers that are not used" },
      0, 0 },
};
static const data_case apply_cases[] = {
    { { 2, "cropped", "row y starts at pixel (top + y, left); planes are height * width apart" }, 0, 3 },
    { { 2, "mirrored", "pixel x goes to n - 1 - x, and the first part of a row to its end" }, 1, 3 },
    { { 2, "mirrored, other colours", "mirror as in the row above; the colours come from step 05.7" }, 1, 4 },
};
static const data_case colours_cases[] = {
    { { 1, "unchanged", "divide by 255" }, 3, 0 },
    { { 1, "brightness", "v' = b v" }, 0, 0 },
    { { 1, "contrast", "the constant is (1 - k) times the grey of the mean" }, 1, 0 },
    { { 1, "saturation", "grey is a weighted sum of all three colours" }, 2, 0 },
    { { 2, "all three", "use the mean after brightness; saturation does not change the constant" }, 4, 0 },
};
static const data_case order_cases[] = {
    { { 1, "sequential", "0, 1, 2, ..." }, 0, 0 },
    { { 3, "shuffled",
        "MT_STREAM_SHUFFLE with all 64 bits of the seed, substream epoch; earlier calls must have no effect" },
      1, 0 },
};
static const data_case shares_cases[] = {
    { { 3, "padded", "all ranks have the same length, rounded up; sample i goes to rank i % world" }, 0, 0 },
    { { 2, "dropped", "the length is rounded down; the places are rank, rank + world, ... as with padding" }, 1, 0 },
    { { 2, "more ranks than samples", "padding may repeat the samples several times: index modulo count" }, 0, 1 },
};
static const data_case batches_cases[] = {
    { { 3, "a smaller last batch", "the last batch has the remaining samples; with drop_last it does not exist" },
      0, 0 },
    { { 2, "a full last batch", "no empty batch follows it" }, 1, 0 },
    { { 2, "one of several ranks", "use the places of this rank, not the whole order" }, 2, 0 },
};
static const data_case sample_rng_cases[] = {
    { { 3, "a stream of its own",
        "MT_STREAM_AUGMENT, substream epoch, of that substream index; seed, epoch and index have 64 bits" },
      0, 0 },
};
static const data_case collate_cases[] = {
    { { 2, "good samples", "each sample uses the stream of its own index" }, 0, 0 },
    { { 3, "bad ones skipped",
        "the next good sample, modulo count, with that sample's stream from its start; count each bad one" },
      40, 1 },
    { { 1, "bad ones fatal", "return the status at once", MG_EASY }, 40, 0 },
    { { 1, "files that cannot be read", "only MT_ERR_FORMAT is skipped", MG_EASY }, -40, 1 },
    { { 1, "all bad", "try each sample once, then give up", MG_EASY }, 100, 1 },
};
static const data_case claim_cases[] = {
    { { 4, "one and many workers",
        "test the condition again after every wait, because another thread may have been faster; take tickets in "
        "order" },
      MG_LOADER_ORDER, -1 },
    { { 3, "without workers", "the caller claims and finishes each ticket itself" }, MG_LOADER_ORDER, 0 },
};
static const data_case ring_cases[] = {
    { { 5, "any order of finishing",
        "ready belongs to slot ticket % slots; ready_max is the largest number at once; wake arrival when the awaited "
        "ticket is ready" },
      0, 0 },
};
static const data_case bound_cases[] = {
    { { 3, "bounded prefetch",
        "claim only planned tickets; after each change wake the threads that wait for it (05.13: planning, 05.14: "
        "arrival)" },
      MG_LOADER_AHEAD, -1 },
};
static const data_case resume_cases[] = { /* the whole loader: behind the rows of its parts */
    { { 4, "resumed inside an epoch", "order and batches follow from (seed, epoch, step) alone" },
      MG_LOADER_RESUME, 3 },
};
static const data_case law_cases[] = {
    { { 2, "time, 1 worker", "loading and computing at the same time: max(c, l)" }, MG_LOADER_LAW, 1 },
    { { 3, "time, 4 workers", "the workers must load at the same time: release the lock between claim and finish" },
      MG_LOADER_LAW, 4 },
};
static const data_case stop_cases[] = {
    { { 3, "waiting workers", "set stopped and wake all on planning; a claim after stop must return false" }, 3, 0 },
    { { 3, "a waiting caller", "the caller waits on arrival: wake it too; a take after stop must return false" },
      1, 1 },
    { { 2, "everybody", "wake the threads that wait on planning and those on arrival" }, 4, 1 },
};

#define GROUP(step, title, run, cases) MG_GROUP(step, title, mg_05_##run, cases##_cases)

static const mg_group groups[] = {
    GROUP("05.1", "IDX header", idx, idx),
    GROUP("05.2", "pixels", pixels, pixels),
    GROUP("05.3", "token file", tokens, tokens),
    GROUP("05.4", "windows", windows, windows),
    GROUP("05.4", "window", window, window),
    GROUP("05.5", "resize", resize, resize),
    GROUP("05.6", "chance", choose, choose),
    GROUP("05.6", "crop and flip", apply, apply),
    GROUP("05.7", "colours", colours, colours),
    GROUP("05.8", "order", order, order),
    GROUP("05.9", "shares", shares, shares),
    GROUP("05.10", "batches", batches, batches),
    GROUP("05.11", "sample's stream", sample_rng, sample_rng),
    GROUP("05.12", "samples", collate, collate),
    GROUP("05.13", "ring", ring, ring),
    GROUP("05.13", "loader", loader, claim),
    GROUP("05.14", "loader", loader, bound),
    GROUP("05.15", "loader", loader, law),
    GROUP("05.15", "loader", loader, resume),
    GROUP("05.16", "stop", stop, stop),
};
// clang-format on

const mg_lab mg_lab_05 = { "05-data", groups, MT_COUNT(groups) };
