/* graph_nodes.c -- the host API of graphs: making nodes and asking for them. */
#include <stdlib.h>
#include <string.h>
#include "emulator/api/graph.h"

static cudaError_t no_graph(uintptr_t pc, const char *what)
{
    return emu_misuse(cudaErrorInvalidValue, pc, "%s: the graph does not exist (was it destroyed?)", what);
}

static cudaError_t no_node(uintptr_t pc, const char *what)
{
    return emu_misuse(cudaErrorInvalidValue, pc, "%s: the node does not exist (was its graph destroyed?)", what);
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
    API_BEGIN();
    if (!graph || flags)
        API_END(cudaErrorInvalidValue);
    *graph = emu_graph_new();
    API_END(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    API_BEGIN();
    if (!emu_graph_valid(graph))
        API_END(no_graph(HERE, __func__));
    emu_graph_end(graph);
    API_END(cudaSuccess);
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    API_BEGIN();
    if (!clone || !emu_graph_valid(graph))
        API_END(no_graph(HERE, __func__));
    *clone = emu_graph_copy(graph);
    API_END(cudaSuccess);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* For a kernel of which only the address is known; the translator registers it where the program takes the address. */
cudaError_t emu_params_kernel(cudaGraphNode_t node, const cudaKernelNodeParams *p, uintptr_t pc, const char *what)
{
    const cuemu_kernel *kernel = p ? cuemu_find_kernel(p->func) : NULL;
    if (!kernel)
        return emu_misuse(cudaErrorInvalidDeviceFunction, pc,
                          "%s: params->func is not a kernel that the emulator knows\nhint: write func = (void "
                          "*)kernel, with the kernel's own name, for a template all of its arguments too",
                          what);
    if (p->extra || (kernel->kind->count && !p->kernelParams))
        return emu_misuse(cudaErrorInvalidValue, pc, "%s: give the addresses of the arguments in kernelParams", what);
    cuemu_launch_config config = {
        .grid = p->gridDim, .block = p->blockDim, .dynamic_shared = p->sharedMemBytes, .entry = p->func
    };
    const char *file = "?";
    int line = 0;
    emu_source(pc, &file, &line);
    config.kernel = kernel->name;
    config.file = file;
    config.line = line;
    config.run = kernel->kind->run;
    config.kind = kernel->kind;
    emu_node_set_kernel(node, &config, kernel->bind(p->func, p->kernelParams));
    return cudaSuccess;
}

cudaError_t emu_params_set(const cudaMemsetParams *p, uintptr_t pc, const char *what)
{
    if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) ||
        (p->height > 1 && p->pitch < p->width * p->elementSize))
        return emu_misuse(cudaErrorInvalidValue, pc,
                          "%s: elementSize is 1, 2 or 4 bytes, and rows fit into their pitch", what);
    return cudaSuccess;
}

cudaError_t emu_params_host(const cudaHostNodeParams *p, uintptr_t pc, const char *what)
{
    return p && p->fn ? cudaSuccess : emu_misuse(cudaErrorInvalidValue, pc, "%s: there is no function", what);
}

emu_copy emu_params_copy(void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    return (emu_copy){ .to = to, .from = from, .width = size, .height = 1, .depth = 1, .kind = kind };
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static cudaError_t check_new(cudaGraphNode_t *made, cudaGraph_t graph, const emu_nodes *after, uintptr_t pc,
                             const char *what)
{
    if (!made || !emu_graph_valid(graph))
        return no_graph(pc, what);
    for (int i = 0; i < after->count; i++)
        if (!after->at || !emu_node_valid(after->at[i]) || after->at[i]->graph != graph)
            return emu_misuse(cudaErrorInvalidValue, pc, "%s: dependency %d is not a node of this graph", what, i);
    return cudaSuccess;
}

/* Begins a function that adds a node: `node` is made if there is no `error`. */
#define ADD_BEGIN(kind, check)                                              \
    API_BEGIN();                                                            \
    emu_nodes before = { (cudaGraphNode_t *)(uintptr_t)after, (int)count }; \
    cudaError_t error = check_new(made, graph, &before, HERE, __func__);    \
    error = error != cudaSuccess ? error : (check);                         \
    cudaGraphNode_t node = NULL;                                            \
    if (error == cudaSuccess)                                               \
    *made = node = emu_node_new(graph, cudaGraphNodeType##kind, (emu_site){ .pc = HERE }, &before)

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *made, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const cudaKernelNodeParams *params)
{
    struct CUgraphNode_st trial = { 0 }; /* a node is made only of parameters that are right */
    ADD_BEGIN(Kernel, emu_params_kernel(&trial, params, HERE, __func__));
    if (node)
        emu_node_set_kernel(node, &trial.config, trial.config.args);
    free(trial.arguments);
    API_END(error);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *made, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const cudaMemcpy3DParms *params)
{
    emu_copy copy;
    ADD_BEGIN(Memcpy, emu_copy_of(&copy, params, HERE, __func__));
    if (node)
        node->copy = copy;
    API_END(error);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *made, cudaGraph_t graph, const cudaGraphNode_t *after,
                                     size_t count, void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    ADD_BEGIN(Memcpy, (unsigned)kind > cudaMemcpyDefault ? cudaErrorInvalidMemcpyDirection : cudaSuccess);
    if (node)
        node->copy = emu_params_copy(to, from, size, kind);
    API_END(error);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *made, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                   const cudaMemsetParams *params)
{
    ADD_BEGIN(Memset, emu_params_set(params, HERE, __func__));
    if (node)
        node->set = *params;
    API_END(error);
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *made, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                 const cudaHostNodeParams *params)
{
    ADD_BEGIN(Host, emu_params_host(params, HERE, __func__));
    if (node)
        node->host = *params;
    API_END(error);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *made, cudaGraph_t graph, const cudaGraphNode_t *after,
                                       size_t count, cudaGraph_t child)
{
    ADD_BEGIN(Graph, emu_graph_valid(child) && child != graph ? cudaSuccess : no_graph(HERE, __func__));
    if (node) {
        node->child = emu_graph_copy(child);
        node->child->dead = true;
    }
    API_END(error);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *made, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count)
{
    ADD_BEGIN(Empty, cudaSuccess);
    (void)node;
    API_END(error);
}

cudaError_t cuemu_graph_add_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                         size_t count)
{
    API_BEGIN();
    if (!emu_graph_valid(graph))
        API_END(no_graph(HERE, "cudaGraphAddDependencies"));
    for (size_t i = 0; i < count; i++) {
        if (!emu_node_valid(from[i]) || !emu_node_valid(to[i]) || from[i]->graph != graph || to[i]->graph != graph)
            API_END(no_node(HERE, "cudaGraphAddDependencies"));
        emu_nodes_add(&to[i]->after, from[i]);
    }
    API_END(cudaSuccess);
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

typedef struct list {
    cudaGraphNode_t *from, *to;
    size_t room, count;
} list;

static void put(list *l, cudaGraphNode_t from, cudaGraphNode_t to)
{
    if (l->count < l->room && l->from)
        l->from[l->count] = from;
    if (l->count < l->room && l->to)
        l->to[l->count] = to;
    l->count++;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    API_BEGIN();
    if (!emu_graph_valid(graph) || !count)
        API_END(no_graph(HERE, __func__));
    list l = { nodes, NULL, *count, 0 };
    for (int i = 0; i < graph->nodes.count; i++)
        put(&l, graph->nodes.at[i], NULL);
    *count = l.count;
    API_END(cudaSuccess);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    API_BEGIN();
    if (!emu_graph_valid(graph) || !count)
        API_END(no_graph(HERE, __func__));
    list l = { nodes, NULL, *count, 0 };
    for (int i = 0; i < graph->nodes.count; i++)
        if (!graph->nodes.at[i]->after.count)
            put(&l, graph->nodes.at[i], NULL);
    *count = l.count;
    API_END(cudaSuccess);
}

cudaError_t cuemu_graph_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    API_BEGIN();
    if (!emu_graph_valid(graph) || !count)
        API_END(no_graph(HERE, "cudaGraphGetEdges"));
    list l = { from, to, *count, 0 };
    for (int i = 0; i < graph->nodes.count; i++)
        for (int k = 0; k < graph->nodes.at[i]->after.count; k++)
            put(&l, graph->nodes.at[i]->after.at[k], graph->nodes.at[i]);
    *count = l.count;
    API_END(cudaSuccess);
}

cudaError_t cuemu_graph_node_dependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
{
    API_BEGIN();
    if (!emu_node_valid(node) || !count)
        API_END(no_node(HERE, "cudaGraphNodeGetDependencies"));
    list l = { nodes, NULL, *count, 0 };
    for (int k = 0; k < node->after.count; k++)
        put(&l, node->after.at[k], NULL);
    *count = l.count;
    API_END(cudaSuccess);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type)
{
    API_BEGIN();
    if (!emu_node_valid(node) || !type)
        API_END(no_node(HERE, __func__));
    *type = node->type;
    API_END(cudaSuccess);
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *params)
{
    API_BEGIN();
    if (!emu_node_valid(node) || node->type != cudaGraphNodeTypeKernel || !params)
        API_END(no_node(HERE, __func__));
    *params = (cudaKernelNodeParams){ .func = (void *)(uintptr_t)node->config.entry,
                                      .gridDim = node->config.grid,
                                      .blockDim = node->config.block,
                                      .sharedMemBytes = (unsigned)node->config.dynamic_shared,
                                      .kernelParams = node->arguments };
    API_END(cudaSuccess);
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *params)
{
    API_BEGIN();
    if (!emu_node_valid(node) || node->type != cudaGraphNodeTypeKernel)
        API_END(no_node(HERE, __func__));
    API_END(emu_params_kernel(node, params, HERE, __func__));
}
