/* recompute.h -- how the checks of steps 10.2 to 10.4 describe a tower to the worker, and what it counts.
 *
 * A tower is a sequence of layers; each is a sequence of a block of GPT-2 and, where p is not 0, a dropout layer, whose
 * masks come from the stream MT_STREAM_DROPOUT with the call's seed plus the layer's number. With two passes the result
 * is x + y + z of y = tower(x), z = tower(y); with one it is y. What enters it, x here, is what the call gives or, with
 * MG_RC_PRODUCT, a product's result: under autocast the types of what is kept of the two differ. */
#pragma once

/* The settings of a call. */
enum {
    MG_RC_B,
    MG_RC_T,
    MG_RC_C,
    MG_RC_H,
    MG_RC_LAYERS,
    MG_RC_PASSES,
    MG_RC_P,        /* of dropout, in eighths */
    MG_RC_SEED,     /* of dropout */
    MG_RC_TYPE,     /* of products in forward, by autocast; MT_F32: without it */
    MG_RC_BACK,     /* in force in backward: likewise, or MG_RC_POLICY_ONLY */
    MG_RC_EVAL,     /* 1: in MT_EVAL */
    MG_RC_PRODUCT,  /* 1: in place of each element enters its sum with the next one of its row, the last one's with the
                       first, as a product with a matrix of ones and zeros */
    MG_RC_LEVELS,   /* which modules compute again: MG_RC_TOWER ..., added up */
    MG_RC_BACKWARD, /* 0: forward only */
    MG_RC_WANTED,   /* 0: neither x nor parameters want gradients; 2: all do, inside mt_no_grad;
                       3: parameters only */
    MG_RC_CHOSEN,   /* of the call "offload": which layers, 1 << l added up */
    MG_RC_RATE,     /* ... on a simulated bus (testing/bus_sim.h): FLOPs while one byte crosses it */
    MG_RC_ROUNDS,   /* how often all this is done; gradients are cleared, not released, in between */
    MG_RC_SETTINGS
};
enum { MG_RC_POLICY_ONLY = 100 /* a policy of products in f16, with a user pointer, without autocast's keeper */ };
enum { MG_RC_TOWER = 1, MG_RC_EACH_LAYER = 2, MG_RC_EACH_BLOCK = 4, MG_RC_LAYERS_MOST = 12 };

/* What it counts, in the last round. */
enum {
    MG_RC_NODE,           /* the result has a node */
    MG_RC_KEPT,           /* bytes that are there after forward, and were not there when x entered the tower */
    MG_RC_RECORDING,      /* after forward an op is recorded as usual, and keeps what it saves as it is */
    MG_RC_DRAWN,          /* blocks of random numbers drawn by forward, of all layers */
    MG_RC_DRAWN_AFTER,    /* by forward, by another user of the streams, and by backward */
    MG_RC_FLOPS,          /* of forward */
    MG_RC_FLOPS_BACKWARD, /* of backward */
    MG_RC_PEAK,           /* most bytes at a time, over those before forward */
    MG_RC_LEFT,           /* bytes after backward, without gradients */
    MG_RC_READY_LEAST,    /* how often a parameter's gradient was ready: the least, the most of all parameters */
    MG_RC_READY_MOST,
    MG_RC_COMPLETE, /* each was the final one */
    MG_RC_POLICY,   /* after backward: whether the policy is the one before it, its user pointer, the keepers */
    MG_RC_USER,
    MG_RC_KEEPERS,
    MG_RC_OUT, /* bytes that were copied to the host, and back */
    MG_RC_IN,
    MG_RC_FREED,        /* blocks whose memory was freed while it was copied */
    MG_RC_CLOCK,        /* FLOPs from the beginning of forward to the end of backward, and those spent waiting */
    MG_RC_RECORDS_LAST, /* after backward: whether ops are recorded */
    MG_RC_COUNTED
};

enum { MG_RC_OTHERS = 1000 /* blocks that another user draws from each stream between forward and backward */ };
