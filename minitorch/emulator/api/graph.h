/* graph.h -- graphs: their nodes (graph.c), and streams captured into them (capture.c). Under the API's lock. */
#ifndef EMU_GRAPH_H
#define EMU_GRAPH_H

#include "emulator/api/call.h"
#include "emulator/include/cuemu/graph_api.h"
#include "emulator/run/stream_order.h"

/* A copy of depth x height rows of `width` bytes. A pitch is the distance of rows, a slice that of planes. */
typedef struct emu_copy {
    char *to;
    const char *from;
    size_t to_pitch, to_slice, from_pitch, from_slice;
    size_t width, height, depth;
    cudaMemcpyKind kind;
} emu_copy;

typedef struct emu_nodes {
    cudaGraphNode_t *at;
    int count;
} emu_nodes;

struct CUgraphNode_st {
    cudaGraphNodeType type;
    emu_site site; /* of the call that made it */
    cudaGraph_t graph;
    emu_nodes after;                     /* the nodes that it comes after */
    const struct CUgraphNode_st *origin; /* that it is a copy of */
    cuemu_launch_config config;          /* of a kernel; it owns the arguments */
    void **arguments;                    /* their addresses, for cudaGraphKernelNodeGetParams */
    emu_copy copy;
    cudaMemsetParams set;
    cudaHostNodeParams host;
    cudaGraph_t child;         /* its own copy */
    cudaGraphExec_t child_run; /* of a node of an instantiated graph */
    int branch, place;         /* where it runs: emu_graph_run */
    emu_clock clock;           /* when it is complete */
};

struct CUgraph_st {
    struct CUgraph_st *next;
    emu_nodes nodes;
    bool dead; /* destroyed, or not the program's: a child, an instantiated graph's */
};

struct CUgraphExec_st {
    struct CUgraphExec_st *next;
    cudaGraph_t graph;
    cudaGraphNode_t *order; /* its nodes, each after those that it depends on */
    cudaStream_t *branch;   /* of those that may run beside the first one, which runs on the launch's stream */
    int branches;
    emu_clock end; /* of its last launch */
};

/* ---- graph.c ---- */
cudaGraph_t emu_graph_new(void);
cudaGraph_t emu_graph_copy(cudaGraph_t graph);
void emu_graph_end(cudaGraph_t graph);
bool emu_graph_valid(cudaGraph_t graph);
void emu_nodes_add(emu_nodes *set, cudaGraphNode_t node); /* if it is not yet there */
cudaGraphNode_t emu_node_new(cudaGraph_t graph, cudaGraphNodeType type, emu_site site, const emu_nodes *after);
bool emu_node_valid(cudaGraphNode_t node);
void emu_node_set_kernel(cudaGraphNode_t node, const cuemu_launch_config *config, void *args); /* owns args now */
bool emu_graph_order(cudaGraph_t graph, cudaGraphNode_t *order); /* false: it has a cycle */
cudaGraphExec_t emu_exec_new(cudaGraph_t graph);                 /* NULL: it has a cycle */
void emu_exec_end(cudaGraphExec_t exec);
bool emu_exec_valid(cudaGraphExec_t exec);
cudaError_t emu_graph_run(cudaGraphExec_t exec, cudaStream_t stream);

/* ---- graph_nodes.c: the parameters of nodes ---- */
cudaError_t emu_params_kernel(cudaGraphNode_t node, const cudaKernelNodeParams *p, uintptr_t pc, const char *what);
cudaError_t emu_params_set(const cudaMemsetParams *p, uintptr_t pc, const char *what); /* checks them */
cudaError_t emu_params_host(const cudaHostNodeParams *p, uintptr_t pc, const char *what);
emu_copy emu_params_copy(void *to, const void *from, size_t size, cudaMemcpyKind kind);

/* ---- memcpy.c: one operation on a stream, which may be a graph's ---- */
/* `waits`: the call is a synchronous one. */
cudaError_t emu_issue_copy(const emu_copy *copy, const void *stream, bool waits, uintptr_t pc, const char *what);
cudaError_t emu_run_copy(const emu_copy *copy, cudaStream_t stream, uintptr_t pc, const char *what);
cudaError_t emu_run_set(const cudaMemsetParams *set, cudaStream_t stream, uintptr_t pc, const char *what);
cudaError_t emu_copy_of(emu_copy *copy, const cudaMemcpy3DParms *params, uintptr_t pc, const char *what);

/* ---- capture.c ---- */
/* The node to fill for an operation on the stream. NULL: the stream is not captured, or *error says why not. */
cudaGraphNode_t emu_capture_node(const void *stream, cudaGraphNodeType type, emu_site site, const char *what,
                                 cudaError_t *error);

#endif
