/* calls_10_recompute.c -- how the worker calls segments and selective recomputation: in towers of blocks of GPT-2
 * (worker/recompute.h). */
#include "worker/recompute.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "memory/offload.h"
#include "memory/segment.h"
#include "models/gpt2.h"
#include "amp/autocast.h"
#include "ops/ops.h"
#include "core/span.h"
#include "testing/bus_sim.h"
#include "worker/calls_10.h"
#include "worker/heap.h"

#include <string.h>

typedef mt_tensor *run_fn(mt_module *module, mt_tensor *x);

enum { PARAMS = 12 * MG_RC_LAYERS_MOST };

typedef struct tower {
    const int64_t *setting;
    mt_module *model[MG_RC_LAYERS_MOST]; /* the owners of the layers */
    mt_module *dropout[MG_RC_LAYERS_MOST];
    mt_module *top;
    mt_state params;
    int64_t ready[PARAMS];
    float first[PARAMS]; /* element of the gradient, when it was ready */
} tower;

/* ---- making ------------------------------------------------------------------------------------------------ */

static mt_module *layer_new(tower *t, int64_t l, run_fn *run)
{
    const int64_t *setting = t->setting;
    const mt_gpt2_config config = { 1, 1, setting[MG_RC_T], 1, setting[MG_RC_H], setting[MG_RC_C] };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    t->model[l] = mt_gpt2_new(&config, &rng);
    mt_module *layer = t->model[l]->child[MT_GPT2_H];
    layer->run = setting[MG_RC_LEVELS] & MG_RC_EACH_LAYER ? run : NULL;
    layer->child[0]->run = setting[MG_RC_LEVELS] & MG_RC_EACH_BLOCK ? run : NULL;
    t->dropout[l] = mt_dropout_layer((float)setting[MG_RC_P] / 8,
                                     mt_rng_new((uint64_t)(setting[MG_RC_SEED] + l), MT_STREAM_DROPOUT));
    if (setting[MG_RC_P] > 0)
        mt_module_child(layer, "dropout", t->dropout[l]);
    return layer;
}

static tower *tower_new(const int64_t *setting, const float *values, run_fn *run)
{
    static tower t;
    t = (tower){ .setting = setting, .top = mt_sequential(0) };
    MT_CHECK(setting[MG_RC_LAYERS] <= MG_RC_LAYERS_MOST, "more than %d layers", MG_RC_LAYERS_MOST);
    for (int64_t l = 0; l < setting[MG_RC_LAYERS]; l++) {
        char name[2] = { (char)('a' + l) };
        mt_module_child(t.top, name, layer_new(&t, l, run));
    }
    t.top->run = setting[MG_RC_LEVELS] & MG_RC_TOWER ? run : NULL;
    mt_module_set_mode(t.top, setting[MG_RC_EVAL] ? MT_EVAL : MT_TRAIN);
    t.params = mt_module_params(t.top);
    for (int64_t p = 0; p < t.params.count; p++) {
        mt_tensor *param = t.params.item[p].tensor;
        memcpy(mt_f32(param), values, (size_t)mt_numel(param) * sizeof *values);
        values += mt_numel(param);
        param->requires_grad = setting[MG_RC_WANTED] > 0;
    }
    return &t;
}

static void tower_free(tower *t)
{
    mt_state_free(&t->params);
    for (int64_t l = 0; l < t->setting[MG_RC_LAYERS]; l++) {
        if (t->setting[MG_RC_P] == 0)
            mt_module_free(t->dropout[l]);
        mt_module_free(t->model[l]);
    }
    t->top->children = 0; /* they were the models' */
    mt_module_free(t->top);
}

/* ---- counting ------------------------------------------------------------------------------------------------- */

static int64_t flops;
static mt_bus *bus; /* of the call "offload"; NULL: another call */

static void add_flops(void *user, const mt_span *span)
{
    (void)user;
    flops += span->flops;
    if (bus)
        mt_bus_sim_compute(bus, span->flops);
}

/* What the bus has done up to now, subtracted from what it will have done. */
static void count_bus(int64_t *facts, int64_t sign)
{
    if (bus) {
        facts[MG_RC_OUT] += sign * bus->out;
        facts[MG_RC_IN] += sign * bus->in;
        facts[MG_RC_CLOCK] += sign * mt_bus_sim_now(bus);
        facts[MG_RC_FREED] += sign * mt_bus_sim_freed(bus);
    }
}

static void note_ready(void *user, mt_tensor *leaf)
{
    tower *t = user;
    for (int64_t p = 0; p < t->params.count; p++)
        if (t->params.item[p].tensor == leaf) {
            t->ready[p]++;
            t->first[p] = leaf->grad ? mt_f32(leaf->grad)[0] : 0;
        }
}

static void listen_ready(tower *t, bool on)
{
    for (int64_t p = 0; p < t->params.count; p++)
        (on ? mt_grad_ready_on : mt_grad_ready_off)(t->params.item[p].tensor, note_ready, t);
}

static int64_t drawn(const tower *t)
{
    int64_t sum = 0;
    for (int64_t l = 0; l < t->setting[MG_RC_LAYERS]; l++)
        sum += (int64_t)t->dropout[l]->rng.counter;
    return sum;
}

static void draw(tower *t, uint64_t blocks)
{
    for (int64_t l = 0; l < t->setting[MG_RC_LAYERS]; l++)
        t->dropout[l]->rng.counter = blocks ? t->dropout[l]->rng.counter + blocks : 0;
}

/* Whether what an op records now is recorded, and saved as it is. */
static bool as_usual(void)
{
    mt_tensor *x = mt_full(MT_SHAPE(2), 1);
    x->requires_grad = true;
    mt_tensor *y = mt_gelu(x), *z = mt_mul(y, y);
    return z->node && z->node->saved_count == 2 && !z->node->saved[0].keeper;
}

static void judge_ready(tower *t, int64_t *facts)
{
    facts[MG_RC_READY_LEAST] = INT64_MAX;
    facts[MG_RC_COMPLETE] = 1;
    for (int64_t p = 0; p < t->params.count; p++) {
        mt_tensor *grad = t->params.item[p].tensor->grad;
        facts[MG_RC_READY_LEAST] = mt_min(facts[MG_RC_READY_LEAST], t->ready[p]);
        facts[MG_RC_READY_MOST] = mt_max(facts[MG_RC_READY_MOST], t->ready[p]);
        facts[MG_RC_COMPLETE] &= grad && mt_f32(grad)[0] == t->first[p];
        t->ready[p] = 0;
    }
}

/* ---- a round -------------------------------------------------------------------------------------------------- */

/* What enters the tower. */
static mt_tensor *enter(const tower *t, mt_tensor *x)
{
    int64_t C = t->setting[MG_RC_C];
    if (!t->setting[MG_RC_PRODUCT])
        return x;
    mt_tensor *w = mt_zeros(MT_SHAPE(C, C), MT_F32, MT_CPU);
    for (int64_t j = 0; j < C; j++)
        mt_f32(w)[j * C + j] = mt_f32(w)[(j + 1) % C * C + j] = 1;
    return mt_matmul(x, w);
}

static mt_tensor *forward(tower *t, mt_tensor *x)
{
    mt_scope_begin();
    mt_tensor *y = mt_forward(t->top, x);
    if (t->setting[MG_RC_PASSES] > 1)
        y = mt_add(mt_add(x, y), mt_forward(t->top, y));
    mt_retain(y);
    mt_scope_end();
    return mt_scope_adopt(y);
}

/* The policy of a program that runs backward under another one, without autocast's keeper. */
static mt_dtype in_f16(void *user, const char *op, mt_op_kind kind, mt_dtype input)
{
    (void)user, (void)op;
    return kind == MT_OP_MATMUL ? MT_F16 : input;
}

static void begin_types(int64_t types)
{
    static int anything;
    mt_products16_offer();
    if (types == MG_RC_POLICY_ONLY)
        mt_cast_policy_set(in_f16, &anything);
    else if (types != MT_F32)
        mt_autocast_begin((mt_dtype)types);
}

static void end_types(int64_t types)
{
    if (types == MG_RC_POLICY_ONLY)
        mt_cast_policy_set(NULL, NULL);
    else if (types != MT_F32)
        mt_autocast_end();
}

/* Backward, and whether policy and keepers are as before; then they are. */
static void go_back(mt_tensor *out, mt_tensor *dout, int64_t *facts)
{
    void *user, *user_now;
    mt_cast_policy *policy = mt_cast_policy_get(&user);
    mt_keepers keepers = mt_keepers_now(), keepers_now;
    mt_backward_from(out, dout);
    facts[MG_RC_POLICY] = mt_cast_policy_get(&user_now) == policy;
    facts[MG_RC_USER] = user_now == user;
    keepers_now = mt_keepers_now();
    facts[MG_RC_KEEPERS] = keepers_now.count == keepers.count &&
                           memcmp(keepers_now.begun, keepers.begun, (size_t)keepers.count * sizeof(void *)) == 0;
    mt_cast_policy_set(policy, user);
    mt_keepers_set(keepers);
}

static void backward(tower *t, mt_tensor *out, const float *dout, int64_t *facts)
{
    draw(t, MG_RC_OTHERS);
    begin_types(t->setting[MG_RC_BACK]);
    listen_ready(t, true);
    flops = 0;
    go_back(out, mt_from(mt_view_shape(&out->view), MT_F32, dout), facts);
    facts[MG_RC_FLOPS_BACKWARD] = flops;
    listen_ready(t, false);
    end_types(t->setting[MG_RC_BACK]);
    facts[MG_RC_DRAWN_AFTER] = drawn(t);
    judge_ready(t, facts);
}

/* Values, or gradients. */
static void copy_out(float *to, const mt_tensor *t, int64_t n)
{
    memset(to, 0, (size_t)n * sizeof *to);
    if (t)
        memcpy(to, mt_f32(t), (size_t)n * sizeof *to);
}

/* Bytes of the heap that each of several passes leaves behind. */
static int64_t heap_left(tower *t, mt_tensor *x)
{
    enum { TIMES = 8 };
    int64_t before = 0;
    for (int i = 0; i <= TIMES; i++) {
        mt_scope_begin();
        forward(t, x);
        mt_scope_end();
        before = i ? before : mg_heap_live(); /* the first makes what stays */
    }
    return (mg_heap_live() - before) / TIMES;
}

static void one_round(const mg_value *v, tower *t)
{
    const int64_t *setting = t->setting;
    int64_t *facts = I64(facts);
    mt_shape shape = MT_SHAPE(setting[MG_RC_B], setting[MG_RC_T], setting[MG_RC_C]);
    memset(facts, 0, MG_RC_COUNTED * sizeof *facts);
    draw(t, 0);
    mt_scope_begin();
    mt_tensor *x = mt_from(shape, MT_F32, F(x));
    x->requires_grad = setting[MG_RC_WANTED] == 1 || setting[MG_RC_WANTED] == 2;
    int64_t before = mt_live_bytes(MT_CPU), gradients = 0;
    for (int64_t p = 0; p < t->params.count; p++)
        gradients += t->params.item[p].tensor->grad ? 4 * mt_numel(t->params.item[p].tensor) : 0;
    mt_peak_reset(MT_CPU);
    flops = 0;
    count_bus(facts, -1);
    begin_types(setting[MG_RC_TYPE]);
    if (setting[MG_RC_WANTED] == 2)
        mt_no_grad_begin();
    mt_tensor *in = enter(t, x);
    int64_t entered = mt_live_bytes(MT_CPU);
    mt_tensor *out = forward(t, in);
    if (setting[MG_RC_WANTED] == 2)
        mt_no_grad_end();
    end_types(setting[MG_RC_TYPE]);
    facts[MG_RC_NODE] = out->node != NULL;
    facts[MG_RC_KEPT] = mt_live_bytes(MT_CPU) - entered;
    facts[MG_RC_FLOPS] = flops;
    facts[MG_RC_DRAWN] = drawn(t);
    copy_out(F(out), out, ARRAY(out)->count);
    if (setting[MG_RC_BACKWARD] && out->node)
        backward(t, out, F(dout), facts);
    count_bus(facts, 1);
    facts[MG_RC_PEAK] = mt_peak_bytes(MT_CPU) - before;
    int64_t heap = setting[MG_RC_WANTED] == 0 ? heap_left(t, x) : 0;
    copy_out(F(dx), x->grad, ARRAY(dx)->count);
    facts[MG_RC_RECORDING] = as_usual();
    mt_scope_end();
    for (int64_t p = 0; p < t->params.count; p++)
        gradients -= t->params.item[p].tensor->grad ? 4 * mt_numel(t->params.item[p].tensor) : 0;
    facts[MG_RC_LEFT] = mt_live_bytes(MT_CPU) - before + 4 * ARRAY(x)->count + gradients + heap;
    facts[MG_RC_RECORDS_LAST] = mt_recording();
}

static void clear(mt_tensor *param)
{
    if (param->grad)
        memset(mt_f32(param->grad), 0, 4 * (size_t)mt_numel(param));
}

/* out, dx [B,T,C], dparams [P], facts; x, dout [B,T,C], params [P], settings */
static void call(const mg_value *v, run_fn *run)
{
    tower *t = tower_new(I64(setting), F(params), run);
    bool chosen[MG_RC_LAYERS_MOST] = { false };
    for (int64_t l = 0; l < I64(setting)[MG_RC_LAYERS]; l++)
        chosen[l] = I64(setting)[MG_RC_CHOSEN] >> l & 1;
    mt_offload *offload = bus ? mt_offload_new(bus, t->top->child, chosen, t->top->children) : NULL;
    mt_span_listen(add_flops, NULL);
    for (int64_t round = 0; round < I64(setting)[MG_RC_ROUNDS]; round++) {
        for (int64_t p = 0; round > 0 && p < t->params.count; p++)
            clear(t->params.item[p].tensor);
        one_round(v, t);
    }
    mt_span_listen(NULL, NULL);
    mt_offload_free(offload);
    float *to = F(dparams);
    for (int64_t p = 0; p < t->params.count; p++) {
        mt_tensor *param = t->params.item[p].tensor;
        copy_out(to, param->grad, mt_numel(param));
        to += mt_numel(param);
        mt_zero_grad(param);
        mt_tensor_keep_cast(param, NULL);
    }
    tower_free(t);
}

void mg_call_as_it_is(const mg_value *v)
{
    call(v, NULL);
}

void mg_call_segments(const mg_value *v)
{
    call(v, mt_segment_forward);
}

void mg_call_selective(const mg_value *v)
{
    call(v, mt_selective_forward);
}

void mg_call_offload(const mg_value *v)
{
    bus = mt_bus_sim_open(I64(setting)[MG_RC_RATE]);
    call(v, NULL);
    mt_bus_free(bus);
    bus = NULL;
}

static mt_tensor *twice(mt_module *module, mt_tensor *x)
{
    (void)module;
    return mt_add(x, x);
}

static void count_ready(void *user, mt_tensor *leaf)
{
    (void)leaf;
    ++*(int64_t *)user;
}

/* out [n]; facts [3]: whether the result has a node, how often the parameter was ready, whether it has a gradient; x
 * [n], which wants none */
void mg_call_unused(const mg_value *v)
{
    static const mt_module_class twice_class = { "twice", twice };
    mt_module *module = mt_module_new(&twice_class);
    mt_tensor *unused = mt_module_new_param(module, "unused", MT_SHAPE(3), 1);
    mt_shape shape = MT_SHAPE(ARRAY(x)->count);
    int64_t ready = 0;
    module->run = mt_segment_forward;
    mt_scope_begin();
    mt_tensor *out = mt_forward(module, mt_from(shape, MT_F32, F(x)));
    copy_out(F(out), out, ARRAY(out)->count);
    I64(facts)[0] = out->node != NULL;
    mt_grad_ready_on(unused, count_ready, &ready);
    if (out->node)
        mt_backward_from(out, mt_full(shape, 1));
    mt_grad_ready_off(unused, count_ready, &ready);
    I64(facts)[1] = ready;
    I64(facts)[2] = unused->grad != NULL;
    mt_scope_end();
    mt_module_free(module);
}
