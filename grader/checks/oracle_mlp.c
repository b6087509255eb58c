/* oracle_mlp.c -- a perceptron in double precision, composed of the oracles of its layers. */
#include "checks/oracle_mlp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { L = MG_MLP_LAYERS };

int mg_mlp_layers(const int64_t width[L + 1])
{
    int layers = 0;
    while (layers < L && width[layers + 1] > 0)
        layers++;
    return layers;
}

int64_t mg_mlp_count(const int64_t width[L + 1])
{
    int64_t count = 0;
    for (int l = 0; l < mg_mlp_layers(width); l++)
        count += (width[l] + 1) * width[l + 1];
    return count;
}

/* One layer: where its parameters start, and value and bound of its output. */
typedef struct layer {
    int64_t w, b, in, out;
    double *v, *e;   /* [N,out] after ReLU */
    double *on, *ne; /* [N,out] slope of ReLU, and its uncertainty: 0 or 1 */
} layer;

typedef struct network {
    int last;
    layer layer[L];
} network;

static network network_new(const int64_t *width, int64_t N)
{
    network net = { .last = mg_mlp_layers(width) - 1 };
    int64_t at = 0;
    for (int l = 0; l <= net.last; l++) {
        int64_t n = N * width[l + 1];
        net.layer[l] = (layer){ at,
                                at + width[l] * width[l + 1],
                                width[l],
                                width[l + 1],
                                mg_doubles(n),
                                mg_doubles(n),
                                mg_doubles(n),
                                mg_doubles(n) };
        at += (width[l] + 1) * width[l + 1];
    }
    return net;
}

static void network_free(network *net)
{
    for (int l = 0; l <= net->last; l++) {
        free(net->layer[l].v);
        free(net->layer[l].e);
        free(net->layer[l].on);
        free(net->layer[l].ne);
    }
}

static void forward(network *net, const double *params, const double *x, int64_t N)
{
    const double *in = x, *ein = NULL;
    for (int l = 0; l <= net->last; l++) {
        layer *y = &net->layer[l];
        mg_oracle_linear(y->v, y->e, in, ein, params + y->w, params + y->b, N, y->in, y->out);
        for (int64_t i = 0; i < N * y->out && l < net->last; i++) {
            y->on[i] = y->v[i] > 0;
            y->ne[i] = fabs(y->v[i]) <= y->e[i];
            y->v[i] = fmax(y->v[i], 0); /* ReLU does not increase distances: the bound is unchanged */
        }
        in = y->v;
        ein = y->e;
    }
}

/* The gradient at the logits: (softmax - one-hot) / N, 1/N rounded once. */
static void loss_and_dlogits(double loss[2], double *dv, double *de, const layer *last, const int32_t *label, int64_t N)
{
    int64_t C = last->out;
    double *each = mg_doubles(N), *ee = mg_doubles(N), *p = mg_doubles(N * C), *ep = mg_doubles(N * C);
    mg_oracle_cross_entropy(each, ee, last->v, last->e, label, N, C);
    mg_oracle_softmax(p, ep, last->v, last->e, N, C);
    loss[0] = loss[1] = 0;
    for (int64_t n = 0; n < N; n++) {
        loss[0] += each[n] / (double)N;
        loss[1] += ee[n] / (double)N;
        each[n] = 1 / (double)N;
    }
    loss[1] += (mg_gamma(N + 1) + MG_U) *
               loss[0]; /* all terms are positive; the sum may be computed in f32 and is sent as f32 */
    mg_oracle_cross_entropy_add(dv, de, each, p, ep, label, N, C);
    for (int64_t i = 0; i < N * C; i++)
        de[i] += MG_U * fabs(dv[i]);
    free(each);
    free(ee);
    free(p);
    free(ep);
}

/* dv, de: the gradient at the logits, freed here as each layer's is. */
static void backward(const network *net, double *gv, double *ge, double *dv, double *de, const double *params,
                     const double *x, int64_t N)
{
    for (int l = net->last; l >= 0; l--) {
        const layer *y = &net->layer[l], *before = l > 0 ? y - 1 : NULL;
        const double *in = before ? before->v : x, *ein = before ? before->e : NULL;
        mg_oracle_linear_dw_add(gv + y->w, ge + y->w, dv, de, in, ein, N, y->in, y->out);
        mg_oracle_linear_db_add(gv + y->b, ge + y->b, dv, de, N, y->out);
        double *below = mg_doubles(N * y->in), *ebelow = mg_doubles(N * y->in);
        mg_oracle_linear_dx_add(below, ebelow, dv, de, params + y->w, N, y->in, y->out);
        for (int64_t i = 0; i < N * y->in && before; i++) {
            ebelow[i] = before->ne[i] > 0 ? ebelow[i] + fabs(below[i]) : ebelow[i] * before->on[i];
            below[i] *= before->on[i];
        }
        free(dv);
        free(de);
        dv = below;
        de = ebelow;
    }
    free(dv);
    free(de);
}

void mg_oracle_mlp(double *v, double *e, double loss[2], double *grad_v, double *grad_e, const double *params,
                   const int64_t width[L + 1], const double *x, const int32_t *label, int64_t N)
{
    network net = network_new(width, N);
    const layer *last = &net.layer[net.last];
    int64_t n = N * last->out;
    forward(&net, params, x, N);
    memcpy(v, last->v, sizeof *v * (size_t)n);
    memcpy(e, last->e, sizeof *e * (size_t)n);
    if (label) {
        double *dv = mg_doubles(n), *de = mg_doubles(n);
        loss_and_dlogits(loss, dv, de, last, label, N);
        backward(&net, grad_v, grad_e, dv, de, params, x, N);
    }
    network_free(&net);
}

/* ---- accuracy ------------------------------------------------------------------------------- */

/* y = ReLU'd or plain x w + b of one image; pixels of 0, which are most, are skipped. */
static void layer_of_one(double *y, const double *x, const float *w, const float *b, int64_t in, int64_t out, bool relu)
{
    for (int64_t o = 0; o < out; o++)
        y[o] = b[o];
    for (int64_t i = 0; i < in; i++)
        for (int64_t o = 0; o < out && x[i] != 0; o++)
            y[o] += x[i] * w[i * out + o];
    for (int64_t o = 0; o < out && relu; o++)
        y[o] = fmax(y[o], 0);
}

double mg_mlp_accuracy(const float *params, const int64_t width[L + 1], const mg_digits *digits)
{
    int64_t most = 0, right = 0;
    int layers = mg_mlp_layers(width);
    for (int l = 0; l <= layers; l++)
        most = mt_max(most, width[l]);
    double *x = mg_doubles(most), *y = mg_doubles(most);
    for (int64_t n = 0; n < digits->count; n++) {
        const float *p = params;
        for (int64_t i = 0; i < width[0]; i++)
            x[i] = digits->image[n * width[0] + i] / 255.0;
        for (int l = 0; l < layers; l++) {
            layer_of_one(y, x, p, p + width[l] * width[l + 1], width[l], width[l + 1], l < layers - 1);
            p += (width[l] + 1) * width[l + 1];
            double *swap = x;
            x = y;
            y = swap;
        }
        int64_t best = 0;
        for (int64_t c = 1; c < width[layers]; c++)
            best = x[c] > x[best] ? c : best;
        right += best == digits->label[n];
    }
    free(x);
    free(y);
    return (double)right / (double)digits->count;
}
