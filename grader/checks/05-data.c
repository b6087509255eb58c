/* 05-data.c -- the rows of lab 05. How they run: 05-formats.c, 05-pictures.c, 05-samplers.c, 05-ring.c,
 * 05-loader.c. */
#include "checks/05-data.h"

// clang-format off
static const data_case idx_cases[] = {
    { { 1, "images and labels",
        "the most significant byte comes first; the header of labels has only a count, that of images rows and cols "
        "too" },
      MG_IDX_GOOD, 0 },
    { { 1, "a large count", "some bytes of the count are above 127: shift unsigned values" }, MG_IDX_HIGH_BYTES, 0 },
    { { 1, "a file cut short",
        "compare the header's count with the number of bytes in the file", MG_EASY }, MG_IDX_SHORT, 0 },
    { { 1, "a file too long", "a file with more bytes than the header says must be refused too", MG_EASY },
      MG_IDX_LONG, 0 },
    { { 1, "cut inside an image",
        "if the bytes after the header are no whole number of items, refuse the file", MG_EASY },
      MG_IDX_TORN, 0 },
    { { 1, "a hostile header", "count * rows * cols can overflow: divide the number of bytes instead" },
      MG_IDX_HOSTILE, 0 },
};
static const data_case pixels_cases[] = {
    { { 2, "normalised", "pixel b becomes b * (1 / stddev) - mean / stddev" }, 0, 0 },
};
static const data_case tokens_cases[] = {
    { { 1, "good files", "the header has 24 bytes, and each token 2 or 4", MG_EASY }, MG_TOKENS_GOOD, 0 },
    { { 1, "tokens of other sizes",
        "a token has 2 or 4 bytes: test its size before you divide by it" }, MG_TOKENS_SIZE, 0 },
    { { 1, "odd length", "the bytes after the header must be a whole number of tokens" }, MG_TOKENS_ODD, 0 },
    { { 1, "another count",
        "refuse the file if it has fewer tokens than its header says, and if it has more" }, MG_TOKENS_SHORT, 0 },
    { { 1, "a hostile count", "count * size can overflow: divide the number of bytes instead" }, MG_TOKENS_HOSTILE, 0 },
};
static const data_case windows_cases[] = {
    { { 1, "how many fit",
        "a window from start has T inputs, and its last target is token start + T: that must exist, too" }, 0, 0 },
};
static const data_case window_cases[] = {
    { { 2, "u16 tokens", "y begins one token after x; ids above 32767 are positive" }, 2, 0 },
    { { 2, "i32 tokens", "y begins one token after x" }, 4, 0 },
};
static const data_case resize_cases[] = {
    { { 2, "larger",
        "the centre of pixel i is at i + 0.5; beyond an edge its pixel is repeated; round to nearest" }, 1, 0 },
    { { 2, "smaller", "the step in the input is from / to, not to / from" }, 2, 0 },
    { { 1, "the same size", "every pixel keeps its value" }, 3, 0 },
};
static const data_case choose_cases[] = {
    { { 2, "random crop, colours", "draw six numbers in the order of the header; a margin of 10 has 11 positions" },
      1, 1 },
    { { 2, "middle crop, no colours",
        "place is top, left, flip and the stream's next number: draw all six numbers, also those that are not used" },
      0, 0 },
};
static const data_case apply_cases[] = {
    { { 2, "cropped",
        "row y begins at pixel (top + y, left) of the input; the planes of out are height * width apart" }, 0, 3 },
    { { 2, "mirrored", "a row of n pixels is written in reverse: pixel x goes to n - 1 - x" }, 1, 3 },
    { { 2, "mirrored, other colours",
        "the row above says whether mirroring is right; the colours come from step 05.7" }, 1, 4 },
};
static const data_case colours_cases[] = {
    { { 1, "unchanged", "with all factors 1 a byte is only divided by 255" }, 3, 0 },
    { { 1, "brightness", "v' = b v for each of the three colours" }, 0, 0 },
    { { 1, "contrast", "v' = k v + (1 - k) m, where m is the grey of the mean colour" }, 1, 0 },
    { { 1, "saturation", "v' = s v + (1 - s) grey(v), and grey is a weighted sum of all three colours" }, 2, 0 },
    { { 2, "all three", "contrast uses the mean after brightness; saturation does not change the constant" }, 4, 0 },
};
static const data_case order_cases[] = {
    { { 1, "sequential", "without shuffle the order is 0, 1, 2, ..." }, 0, 0 },
    { { 3, "shuffled",
        "draw from MT_STREAM_SHUFFLE with all 64 bits of the seed and the epoch as substream; earlier calls must have "
        "no effect" },
      1, 0 },
};
static const data_case shares_cases[] = {
    { { 3, "padded",
        "all ranks have the same length, rounded up; place i of the order belongs to rank i % world" }, 0, 0 },
    { { 2, "dropped",
        "the length is rounded down; a rank has the places rank, rank + world, ... as with padding" }, 1, 0 },
    { { 2, "more ranks than samples",
        "padding may repeat the samples several times: take the place modulo count" }, 0, 1 },
};
static const data_case batches_cases[] = {
    { { 3, "a smaller last batch",
        "the last batch has the samples that remain; with drop_last there is no such batch" },
      0, 0 },
    { { 2, "a full last batch", "where the last batch is full, no empty batch follows it" }, 1, 0 },
    { { 2, "one of several ranks", "take the places of this rank, not those of the whole order" }, 2, 0 },
};
static const data_case sample_rng_cases[] = {
    { { 3, "a stream of its own",
        "take substream `epoch` of MT_STREAM_AUGMENT, and of that the substream `index`; seed, epoch and index have 64 "
        "bits" },
      0, 0 },
};
static const data_case collate_cases[] = {
    { { 2, "good samples", "each sample uses the stream of its own index" }, 0, 0 },
    { { 3, "bad ones skipped",
        "a bad sample is replaced by the next good one, modulo count, whose stream begins at its start; count each "
        "bad sample" },
      40, 1 },
    { { 1, "bad ones fatal", "without skipping, return the status of a bad sample at once", MG_EASY }, 40, 0 },
    { { 1, "files that cannot be read",
        "skip samples with MT_ERR_FORMAT only, and return any other error", MG_EASY }, -40, 1 },
    { { 1, "all bad", "if all samples are bad, try each once, then fail", MG_EASY }, 100, 1 },
};
static const data_case claim_cases[] = {
    { { 4, "one and many workers",
        "test the condition again after every wait, because another thread may have been faster; claim tickets in "
        "their order" },
      MG_LOADER_ORDER, -1 },
    { { 3, "without workers",
        "without workers the caller claims and finishes each ticket itself" }, MG_LOADER_ORDER, 0 },
};
static const data_case ring_cases[] = {
    { { 5, "any order of finishing",
        "ready[] of a ticket is that of slot ticket % slots; ready_max is the largest number of tickets that were "
        "ready "
        "at once; wake arrival when the awaited ticket is ready" },
      0, 0 },
};
static const data_case bound_cases[] = {
    { { 3, "bounded prefetch",
        "claim only planned tickets; after each change wake the threads that wait for it (05.13: planning, 05.14: "
        "arrival)" },
      MG_LOADER_AHEAD, -1 },
};
static const data_case resume_cases[] = { /* the whole loader: behind the rows of its parts */
    { { 4, "resumed inside an epoch", "the order and the batches follow from seed, epoch and step alone" },
      MG_LOADER_RESUME, 3 },
};
static const data_case law_cases[] = {
    { { 2, "time, 1 worker",
        "loading and computing must overlap: a step takes max(c, l), not c + l" }, MG_LOADER_LAW, 1 },
    { { 3, "time, 4 workers", "all workers must load at the same time: hold no lock between claim and finish" },
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
