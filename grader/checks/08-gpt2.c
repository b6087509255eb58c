/* 08-gpt2.c -- the rows of lab 08. How they run: 08-tokenizer.c, 08-words.c, 08-model.c, 08-attention.c, 08-sample.c,
 * 08-block.c, 08-step.c, 08-program.c, 08-edges.c. */
#include "checks/08-gpt2.h"

// clang-format off
static const text_case pieces_cases[] = {
    { { 3, "words",
        "one blank before a word belongs to the word; the blanks before that one are a piece of their own" },
      MG_TEXT_WORDS, 0, 60 },
    { { 3, "endings", "look for 's 't 're 've 'm 'll 'd first, at the start of a piece and in lower case only" },
      MG_TEXT_WORDS | MG_TEXT_ENDINGS, 0, 60 },
    { { 2, "numbers and signs",
        "a piece takes all neighbours of one kind, however many; before each kind one blank may be part of the piece" },
      MG_TEXT_WORDS | MG_TEXT_SIGNS, 0, 60 },
    { { 3, "white space",
        "a piece of white space leaves the last character to the next piece, unless the text ends there or it is the "
        "only one" },
      MG_TEXT_WORDS | MG_TEXT_WHITE, 0, 60 },
    { { 2, "other scripts", "use mt_char_kind; a character has 1 to 4 bytes, white space too" },
      MG_TEXT_WHITE | MG_TEXT_SCRIPTS, 0, 60 },
    { { 1, "bytes that are not UTF-8", "each byte that is not UTF-8 counts as one punctuation character" },
      MG_TEXT_WORDS | MG_TEXT_BROKEN, 0, 60 },
    { { 2, "everything", "the text may end anywhere: do not read past its end" }, ~0u, 0, 300 },
};
static const text_case bytes_cases[] = {
    { { 3, "all 256",
        "bytes 33-126, 161-172 and 174-255 stand for themselves; the others become 256, 257, ... in their order" },
      0, 0, 0 },
};
static const text_case merge_cases[] = {
    { { 5, "by rank",
        "merge first the two neighbours that make the lowest symbol, wherever they are; then look again" },
      0, 4, 150 },
    { { 2, "runs", "where several pairs are equal, merge the leftmost first" }, 0, 1, 40 },
    { { 1, "nothing to merge", "without symbols, with a single symbol, or without rules nothing changes" }, 0, 0, 3 },
};
static const words_case words_cases[] = {
    { { 2, "repeated words", "return the slot whose key equals the given one" }, MG_WORDS_ANY },
    { { 2, "many words with one home",
        "look at all MT_WORD_WAYS slots; prefer an empty one, whose key has both halves 0, to one that is taken" },
      MG_WORDS_CROWDED },
    { { 2, "words that begin with the same bytes", "compare both halves of the key" }, MG_WORDS_ALIKE },
};
static const text_case decode_cases[] = {
    { { 3, "spellings", "the bytes of token i begin at start[i] and end before start[i + 1]" }, 0, 0, 40 },
    { { 1, "no ids", "without ids nothing may be written", MG_EASY }, 0, 0, 0 },
};
static const text_case encode_cases[] = {
    { { 3, "whole texts", "encoding calls pieces, merges and the table of words: make their rows pass first" },
      MG_TEXT_WORDS | MG_TEXT_WHITE, 4, 300 },
    { { 2, "texts of everything", "every byte of the text has a symbol, so nothing is lost" }, ~0u, 4, 300 },
};

/* ---- 08.3 layernorm, 08.4 embedding, 08.7 classifier: tolerances are derived in oracle.h; -1 is a random size */
#define PLUS_EQUALS       "gradients accumulate: use +=, not ="
#define ROWS(n, c)        .N = n, .C = c
#define TEXTS(b, t, v)    .B = b, .T = t, .V = v
#define HEAD(n, c, v, s)  .N = n, .C = c, .V = v, .spread = s
#define PLAIN             .dist = NORMAL(0.5, 1)

static const norm_case layernorm_fwd_cases[] = {
    { { 3, "random rows",
        "the variance is that of the population: divide by C; save the mean and 1 / sqrt(variance + eps)" },
      ROWS(-1, -1),
      PLAIN, .tiny = true },
    { { 2, "large mean",
        "mean(x^2) - mean(x)^2 loses all digits here: add up the squares of x - mean in a second pass" }, ROWS(-1, -1),
      .dist = NORMAL(1000, 1), .overflow = true },
    { { 2, "constant rows", "the variance is 0, so rstd is 1 / sqrt(eps)" }, ROWS(-1, -1),
      .dist = NORMAL(0, 3), .constant = true },
    { { 1, "in place", "out may be x itself: compute both sums before you overwrite the row" }, ROWS(-1, -1), PLAIN,
      .in_place = true },
    { { 1, "one column", "x - mean is 0, so out is beta" }, ROWS(7, 1), PLAIN },
    { { 1, "no rows", "with N = 0 nothing may be written", MG_EASY }, ROWS(0, -1), PLAIN },
};
static const norm_case layernorm_bwd_cases[] = {
    { { 4, "dx",
        "add rstd (g - mean(g) - xhat mean(g xhat)) to dx, where g = dout * gamma and the means are over a row" },
      ROWS(-1, -1), PLAIN,
      .wanted = MG_DX },
    { { 1, "dx of one column", "changing the only x of a row changes the mean as much: the gradient is 0", MG_EASY },
      ROWS(7, 1),
      PLAIN, .wanted = MG_DX },
    { { 2, "dgamma", "gamma was multiplied by xhat = (x - mean) * rstd: add up dout * xhat over all rows" },
      ROWS(-1, -1), PLAIN, .wanted = MG_DGAMMA },
    { { 1, "dbeta", "beta was added to every row, so dbeta sums dout over all rows" }, ROWS(-1, -1), PLAIN,
      .wanted = MG_DBETA },
    { { 2, "adds to what is there", PLUS_EQUALS }, ROWS(-1, -1), PLAIN, .wanted = MG_DX | MG_DGAMMA | MG_DBETA,
      .held = true },
};

static const embedding_case embedding_fwd_cases[] = {
    { { 2, "random tokens", "row n of out is row id[n] of wte plus row n % T of wpe" }, TEXTS(-1, -1, -1) },
    { { 2, "later samples", "every sample begins at position 0: take row n % T of wpe, not row n" }, TEXTS(5, 7, -1) },
    { { 1, "no tokens", "with B = 0 nothing may be written", MG_EASY }, TEXTS(0, 5, -1) },
};
static const embedding_case embedding_bwd_cases[] = {
    { { 2, "dwte", "row n of dout belongs to row id[n] of dwte; dwpe may be NULL" }, TEXTS(-1, -1, -1),
      .wanted = MG_DWTE },
    { { 2, "repeated tokens", "a token that occurs again adds to its row again: use +=, not =" }, TEXTS(-1, -1, 2),
      .wanted = MG_DWTE },
    { { 2, "dwpe", "each sample adds to the positions 0 to T - 1; dwte may be NULL" }, TEXTS(5, -1, -1),
      .wanted = MG_DWPE },
    { { 2, "adds to what is there", "the gradient of wte already has the classifier's part: use +=, not =" },
      TEXTS(-1, -1, -1), .wanted = MG_DWTE | MG_DWPE, .held = true },
};

static const classifier_case classifier_fwd_cases[] = {
    { { 4, "random rows", "logits are x w^T, because w is [V,C]; the loss is -log of the target's probability" },
      HEAD(-1, -1, -1, 0.5) },
    { { 2, "large logits", "exp(90) overflows float, and log(0) is infinite: use lab 02's cross-entropy" },
      HEAD(-1, 31, -1, 5) },
    { { 1, "no columns",
        "with C = 0 all logits are 0, all probabilities 1 / V and all losses ln V" }, HEAD(-1, 0, -1, 1) },
    { { 1, "one class", "the answer is certain: probability 1, loss 0" }, HEAD(-1, -1, 1, 1), .refused = true },
    { { 1, "no rows", "with N = 0 nothing may be written", MG_EASY }, HEAD(0, -1, -1, 1) },
};
static const classifier_case classifier_bwd_cases[] = {
    { { 3, "dlogits",
        "probs becomes dloss[n] * (p - 1) for the target and dloss[n] * p for the others, also where dloss[n] is 0; dx "
        "and dw may be NULL" },
      HEAD(-1, -1, -1, 0.5) },
    { { 3, "dx", "dx [N,C] is dlogits [N,V] times w [V,C], neither of them transposed" }, HEAD(-1, -1, -1, 0.5),
      .wanted = MG_DX },
    { { 3, "dw", "dw [V,C] = dlogits [N,V] transposed times x [N,C]" }, HEAD(-1, -1, -1, 0.5), .wanted = MG_DW },
    { { 3, "adds to what is there",
        "w is the token table, and the embedding adds to its gradient, too: use +=, not =" },
      HEAD(-1, -1, -1, 0.5), .wanted = MG_DX | MG_DW, .held = true },
};

/* ---- 08.5, 08.6, 08.8 attention: tokens, scores, what is judged */
#define TOKENS(count, size) .tokens = MG_TOKENS_##count, .scores = MG_SCORES_##size
#define JUDGE(what)         .judged = MG_JUDGE_##what
static const attention_case attention_cases[] = {
    { { 1, "one token", "the softmax of a single score is 1: out is the value, and the saved probability is 1" },
      TOKENS(ONE, ANY), JUDGE(BOTH) },
    { { 3, "random texts",
        "a score is q . k / sqrt(D) with D = C / H; out is the sum of the values, each times its probability" },
      TOKENS(SHORT, ANY), JUDGE(OUT) },
    { { 2, "first queries", "query i sees the keys 0 to i: its own too, and none after it" },
      TOKENS(FEW, ANY), JUDGE(OUT) },
    { { 2, "many heads", "head h has the columns h*D to h*D+D-1 of queries, keys, values and out" },
      TOKENS(SHORT, ANY), JUDGE(OUT), .heads = true },
    { { 2, "long texts", "the softmax is over all keys that a query sees, however many they are" },
      TOKENS(LONG, ANY), JUDGE(OUT) },
    { { 2, "large scores", "e^100 overflows float and e^-100 is nearly 0: subtract the largest score of the row "
        "first" },
      TOKENS(SHORT, FAR), JUDGE(OUT), .heads = true },
    { { 1, "growing scores", "the largest score of a row may be its last: find the maximum before the first "
        "exponential" },
      TOKENS(LONG, GROWING), JUDGE(OUT) },
    { { 1, "shrinking scores", "the largest score of a row may be its first: take the maximum over all visible keys" },
      TOKENS(LONG, SHRINKING), JUDGE(OUT) },
    { { 3, "saved probabilities", "backward reads p[i,j] from saved [B,H,T,T]: each row divided by its sum, and 0 "
        "for j > i" },
      TOKENS(SHORT, SLOWLY), JUDGE(PROBS), .heads = true },
    { { 1, "no tokens", "with T = 0 or B = 0 nothing may be written", MG_EASY }, TOKENS(NONE, ANY), JUDGE(BOTH) },
};
static const attention_race attention_race_cases[] = {
    { { 4, "speed",
        "compute both products with mt_head_product, and use the softmax of lab 02, whose exponential is vector code",
        MG_TIMED },
      .T = 512, .bar = "08.5" },
};
static const attention_case attention_backward_cases[] = {
    { { 3, "dq",
        "dq is the scores' gradient times the keys; the scores' gradient is p * (dp - delta) / sqrt(D)" },
      TOKENS(SHORT, ANY), JUDGE(DQ) },
    { { 3, "dk", "dk is the scores' gradient, transposed, times the queries" }, TOKENS(SHORT, ANY), JUDGE(DK) },
    { { 3, "dv", "dv is the probabilities, transposed, times dout: compute it before p is overwritten" },
      TOKENS(SHORT, ANY), JUDGE(DV) },
    { { 1, "first tokens", "the last query sees all keys, the first only its own" }, TOKENS(FEW, ANY), JUDGE(ALL) },
    { { 1, "one token", "the softmax of a single score is constant: dq and dk get 0, and dv gets dout" },
      TOKENS(ONE, ANY), JUDGE(ALL) },
    { { 2, "long texts", "a query gets its gradient from all keys that it sees, a key from all queries that see it" },
      TOKENS(LONG, ANY), JUDGE(ALL) },
    { { 1, "large scores", "read the probabilities from saved: recomputed without the maximum they overflow" },
      TOKENS(SHORT, LARGE), JUDGE(ALL) },
    { { 2, "adds to what is there", PLUS_EQUALS },
      TOKENS(LONG, SLOWLY), JUDGE(ALL), .heads = true, .held = true },
    { { 1, "no tokens", "with T = 0 or B = 0 nothing may be written", MG_EASY }, TOKENS(NONE, ANY), JUDGE(ALL) },
};
static const attention_race attention_backward_race_cases[] = {
    { { 4, "speed",
        "compute dv, dq and dk with mt_head_product, with one loop over rows and keys between them", MG_TIMED },
      .backward = true, .T = 384, .bar = "08.6" },
};
static const attention_case cached_cases[] = {
    { { 1, "first token", "at place 0 the token's own key is the only one: out is its value" },
      TOKENS(ONE, ANY), JUDGE(OUT) },
    { { 3, "random positions",
        "the token sees keys 0 to place, place included; divide each score by sqrt(D), and multiply each value by its "
        "weight" },
      TOKENS(SHORT, ANY), JUDGE(OUT) },
    { { 1, "many heads",
        "row j of the cache has C numbers of the key, then C of the value; head h has D of each, from h*D on" },
      TOKENS(SHORT, ANY), JUDGE(OUT), .heads = true },
    { { 2, "large scores", "e^100 overflows float and e^-100 is nearly 0: subtract the largest score so far" },
      TOKENS(SHORT, FAR), JUDGE(OUT), .heads = true },
    { { 2, "growing scores", "when the maximum grows, multiply sum and out by e^(old max - new max)" },
      TOKENS(LONG, SLOWLY), JUDGE(OUT) },
    { { 1, "the cache itself", "row `place` receives the token's key and value; no other row changes", MG_EASY },
      TOKENS(SHORT, ANY), JUDGE(CACHE) },
};
static const attention_case cached_text_cases[] = {
    { { 2, "token by token",
        "with one cache from the first token on, the results are those of attention over the whole text" },
      TOKENS(LONG, ANY), JUDGE(OUT) },
};
#undef TOKENS
#undef JUDGE

/* ---- 08.10 block, 08.11 model: what is zero, what is judged */
static const block_case block_cases[] = {
    { { 2, "residual stream", "with both c_proj 0 a block returns x: a part adds to x, and does not replace it" },
      .zero = MG_NO_ATTENTION | MG_NO_MLP, .judged = MG_JUDGE_OUT },
    { { 3, "attention part",
        "the result is x + attn(ln_1(x)): normalise before attention, and add its result to x itself" },
      .zero = MG_NO_MLP, .judged = MG_JUDGE_OUT },
    { { 3, "MLP part", "the result is x + mlp(ln_2(x)): ln_2, c_fc, GELU in its tanh form, c_proj, then the sum" },
      .zero = MG_NO_ATTENTION, .judged = MG_JUDGE_OUT },
    { { 3, "whole block",
        "the MLP reads the stream after attention was added to it; ln_1 belongs to attention, ln_2 to the MLP" },
      .judged = MG_JUDGE_OUT },
    { { 1, "one token", "a token without others attends to itself" }, .tokens = 1, .judged = MG_JUDGE_OUT },
    { { 2, "gradient of x",
        "the gradient passes through the sums as it is, and through both parts: call ops on tensors, not kernels, and "
        "do not detach" },
      .judged = MG_JUDGE_DX },
    { { 2, "gradients of the parameters", "call every layer of the block through mt_forward, once" },
      .judged = MG_JUDGE_DPARAMS },
};
static const model_case model_cases[] = {
    { { 2, "tokens and positions", "x begins as row id of wte plus row t of wpe (mt_embedding); here the blocks add "
        "nothing" },
      .layers = 1, .zero = MG_NO_ATTENTION | MG_NO_MLP, .judged = MG_JUDGE_HIDDEN },
    { { 3, "all blocks, then ln_f",
        "mt_forward of the child h runs all blocks in order; ln_f normalises the stream after the last" },
      .layers = 3, .judged = MG_JUDGE_HIDDEN },
    { { 3, "logits",
        "the logits are the hidden state times the transpose of the first `vocabulary` rows of wte; the head has no "
        "other weights" },
      .layers = 1, .judged = MG_JUDGE_LOGITS },
    { { 3, "loss",
        "the loss is the mean over all B T positions; its classes are the vocabulary's, without the padded rows" },
      .layers = 1, .judged = MG_JUDGE_LOSS },
    { { 3, "gradient of the token table",
        "wte is the input table and the head, and both parts of its gradient add up: detach or copy neither" },
      .layers = 1, .judged = MG_JUDGE_DWTE },
    { { 2, "gradients of the other parameters",
        "the loss must depend on all of them: call every child through mt_forward" },
      .layers = 2, .judged = MG_JUDGE_DREST },
};

/* ---- 08.12 the training step */
static const step_case step_cases[] = {
    { { 2, "one step", "compute the gradients first, then call mt_optim_step: parameters -= lr * gradient" },
      .steps = 1, .judged = MG_JUDGE_PARAMS },
    { { 3, "several steps", "mt_backward adds to the gradients of the step before: clear them first "
        "(mt_optim_zero_grad)" },
      .steps = 4, .judged = MG_JUDGE_PARAMS, .micro = 3 },
    { { 2, "learning rate", "set the rate to mt_schedule_at(&t->schedule, step) before the update" },
      .steps = 5, .warmup = 4, .judged = MG_JUDGE_PARAMS },
    { { 3, "clipping", "clip after backward and before the update" },
      .steps = 4, .clip = 0.5, .judged = MG_JUDGE_PARAMS },
    { { 1, "a limit that is not reached", "if the norm is below the limit, the gradients do not change" },
      .steps = 3, .clip = 1e6, .judged = MG_JUDGE_PARAMS },
    { { 2, "a gradient that is not finite",
        "with a limit, and only then, skip the update if the norm that the clipping returns is not finite" },
      .steps = 3, .clip = 1, .overflow = true,
      .judged = MG_JUDGE_PARAMS | MG_JUDGE_MORE | MG_JUDGE_LOSSES | MG_JUDGE_SAMPLES },
    { { 2, "loss and samples", "*result has the loss before the update and the number of samples of the batch" },
      .steps = 3, .judged = MG_JUDGE_LOSSES | MG_JUDGE_SAMPLES, .micro = 3 },
    { { 1, "no batch left", "without a batch return false, and change neither the parameters, *result nor the "
        "optimizer's learning rate" },
      .steps = 4, .missing = 2, .micro = 3,
      .judged = MG_JUDGE_PARAMS | MG_JUDGE_MORE | MG_JUDGE_LOSSES | MG_JUDGE_SAMPLES | MG_JUDGE_RATE },
    { { 1, "memory", "a step must free all that it allocates: end each scope, and retain nothing", MG_EASY },
      .steps = 4, .judged = MG_JUDGE_KEPT },
};

static const mg_case batch_cases[] = {
    { 1, "a share of a step",
      "mt_train_batch adds share times the gradients, share times the loss, and batch.count to what is there" },
};

/* ---- 08.9 sampling: chance is an argument, so that there is one right token */
static const sample_case most_likely_cases[] = {
    { { 1, "random logits", "all logits may be negative: begin with the first logit, not with 0" }, MG_SAMPLE_ANY },
    { { 1, "equal logits", "of equal logits return the first: compare with >, not with >=" }, MG_SAMPLE_EQUAL },
};
static const sample_case weights_cases[] = {
    { { 2, "random logits",
        "a weight is exp((logit - first logit) / temperature), so that the first is 1" }, MG_SAMPLE_ANY },
    { { 1, "large logits", "subtract the first logit before exp, which overflows otherwise" }, MG_SAMPLE_LARGE },
};
static const sample_case kept_cases[] = {
    { { 2, "top-k", "keep top_k tokens, or all V if V is smaller" }, MG_SAMPLE_TOP_K },
    { { 2, "top-p",
        "also keep the token with which the sum reaches the share; top_k = 0 means all" }, MG_SAMPLE_TOP_P },
    { { 1, "top-k and top-p", "top_p is a share of the sum of the top_k weights" }, MG_SAMPLE_ANY },
};
static const sample_case drawn_cases[] = {
    { { 2, "random weights",
        "return the first i for which weight[0] + ... + weight[i] exceeds part * (sum of the kept weights)" },
      MG_SAMPLE_ANY },
    { { 2, "a large vocabulary", "fifty thousand additions in f32 are too inexact: add up in double" },
      MG_SAMPLE_LONG },
};
static const sample_case sample_cases[] = {
    { { 2, "a token", "mt_sample ranks the tokens and calls your functions: make their rows pass first" },
      MG_SAMPLE_ANY },
};

/* ---- 08.13 the student's own program */
static const mg_case program_cases[] = {
    { 10, "text", "print the loss of the steps: while it falls, more steps help, then another rate or a larger model" },
};

#define GROUP(step, title, run, cases) MG_GROUP(step, title, mg_08_##run, cases##_cases)

static const mg_group groups[] = {
    GROUP("08.1", "pieces", pieces, pieces),
    GROUP("08.2", "characters of bytes", bytes, bytes),
    GROUP("08.2", "merge", merge, merge),
    GROUP("08.2", "table of words", words, words),
    GROUP("08.2", "decode", decode, decode),
    GROUP("08.2", "encode", encode, encode),
    GROUP("08.3", "layernorm", layernorm_fwd, layernorm_fwd),
    GROUP("08.3", "layernorm backward", layernorm_bwd, layernorm_bwd),
    GROUP("08.4", "embedding", embedding_fwd, embedding_fwd),
    GROUP("08.4", "embedding backward", embedding_bwd, embedding_bwd),
    GROUP("08.5", "attention", attention, attention),
    GROUP("08.5", "attention", attention_race, attention_race),
    GROUP("08.6", "attention backward", attention_backward, attention_backward),
    GROUP("08.6", "attention backward", attention_race, attention_backward_race),
    GROUP("08.7", "classifier", classifier_fwd, classifier_fwd),
    GROUP("08.7", "classifier backward", classifier_bwd, classifier_bwd),
    GROUP("08.8", "cached attention", cached, cached),
    GROUP("08.8", "cached attention", cached_text, cached_text),
    GROUP("08.9", "most likely", most_likely, most_likely),
    GROUP("08.9", "weights", sample_weights, weights),
    GROUP("08.9", "kept", sample_kept, kept),
    GROUP("08.9", "drawn", sample_drawn, drawn),
    GROUP("08.9", "sample", sample, sample),
    GROUP("08.10", "block", block, block),
    GROUP("08.11", "model", model, model),
    GROUP("08.12", "training step", batch, batch),
    GROUP("08.12", "training step", step, step),
    GROUP("08.13", "own program", program, program),
};
// clang-format on

const mg_lab mg_lab_08 = { "08-gpt2", groups, MT_COUNT(groups) };
