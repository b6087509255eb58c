/* graph_exec.c -- the host API of instantiated graphs: making, launching and updating them. */
#include <stdlib.h>
#include "emulator/api/stream.h"

static cudaError_t no_exec(uintptr_t pc, const char *what)
{
    return emu_misuse(cudaErrorInvalidValue, pc, "%s: the instantiated graph does not exist (was it destroyed?)", what);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    API_BEGIN();
    (void)flags;
    if (!exec || !emu_graph_valid(graph))
        API_END(emu_misuse(cudaErrorInvalidValue, HERE,
                           "cudaGraphInstantiate: the graph does not exist (was it destroyed?)"));
    *exec = emu_exec_new(graph);
    if (!*exec)
        API_END(emu_misuse(cudaErrorInvalidValue, HERE,
                           "cudaGraphInstantiate: the dependencies of the graph's nodes form a cycle"));
    API_END(cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    API_BEGIN();
    if (!emu_exec_valid(exec))
        API_END(no_exec(HERE, __func__));
    emu_exec_end(exec);
    API_END(cudaSuccess);
}

static cudaError_t check_launch(cudaGraphExec_t exec, cudaStream_t stream, uintptr_t pc, const char *what)
{
    if (!emu_exec_valid(exec))
        return no_exec(pc, what);
    if (!emu_stream_valid(stream))
        return emu_misuse(cudaErrorInvalidResourceHandle, pc, "%s: the stream does not exist (was it destroyed?)",
                          what);
    return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    API_BEGIN();
    cudaError_t error = check_launch(exec, stream, HERE, __func__);
    API_END(error != cudaSuccess ? error : emu_not_captured(stream, EMU_HERE, __func__));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    API_BEGIN();
    cudaError_t error = check_launch(exec, stream, HERE, __func__);
    if (error != cudaSuccess)
        API_END(error);
    cudaGraphNode_t node = emu_capture_node(stream, cudaGraphNodeTypeGraph, (emu_site){ .pc = HERE }, __func__, &error);
    if (node) {
        node->child = emu_graph_copy(exec->graph);
        node->child->dead = true;
    }
    API_END(node || error != cudaSuccess ? error : emu_graph_run(exec, stream));
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

/* The node of the instantiated graph that was made from `node`, which may be destroyed since; NULL: an error. */
static cudaGraphNode_t find(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeType type, uintptr_t pc,
                            const char *what)
{
    if (!emu_exec_valid(exec)) {
        no_exec(pc, what);
        return NULL;
    }
    for (int i = 0; i < exec->graph->nodes.count; i++)
        if (exec->graph->nodes.at[i]->origin == node && exec->graph->nodes.at[i]->type == type)
            return exec->graph->nodes.at[i];
    emu_misuse(cudaErrorInvalidValue, pc,
               "%s: the instantiated graph has no such node of this type\n"
               "hint: give the node of the graph that was instantiated",
               what);
    return NULL;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *params)
{
    API_BEGIN();
    cudaGraphNode_t mine = find(exec, node, cudaGraphNodeTypeKernel, HERE, __func__);
    API_END(mine ? emu_params_kernel(mine, params, HERE, __func__) : cudaErrorInvalidValue);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from,
                                               size_t size, cudaMemcpyKind kind)
{
    API_BEGIN();
    cudaGraphNode_t mine = find(exec, node, cudaGraphNodeTypeMemcpy, HERE, __func__);
    if (!mine || (unsigned)kind > cudaMemcpyDefault)
        API_END(cudaErrorInvalidValue);
    mine->copy = emu_params_copy(to, from, size, kind);
    API_END(cudaSuccess);
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemsetParams *params)
{
    API_BEGIN();
    cudaGraphNode_t mine = find(exec, node, cudaGraphNodeTypeMemset, HERE, __func__);
    cudaError_t error = mine ? emu_params_set(params, HERE, __func__) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        mine->set = *params;
    API_END(error);
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaHostNodeParams *params)
{
    API_BEGIN();
    cudaGraphNode_t mine = find(exec, node, cudaGraphNodeTypeHost, HERE, __func__);
    cudaError_t error = mine ? emu_params_host(params, HERE, __func__) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        mine->host = *params;
    API_END(error);
}

/* Is the graph of the same form? If not, *info says where not. */
static bool same_form(const struct CUgraph_st *a, const struct CUgraph_st *b, cudaGraphExecUpdateResultInfo *info)
{
    info->result = cudaGraphExecUpdateErrorTopologyChanged;
    if (a->nodes.count != b->nodes.count)
        return false;
    for (int i = 0; i < a->nodes.count; i++) {
        const struct CUgraphNode_st *x = a->nodes.at[i];
        cudaGraphNode_t y = b->nodes.at[i];
        info->errorNode = y;
        if (x->after.count != y->after.count)
            return false;
        for (int k = 0; k < x->after.count; k++)
            if (x->after.at[k]->place != y->after.at[k]->place)
                return false;
        info->result = cudaGraphExecUpdateErrorNodeTypeChanged;
        if (x->type != y->type)
            return false;
        info->result = cudaGraphExecUpdateErrorTopologyChanged;
        if (x->child && !same_form(x->child, y->child, info))
            return false;
    }
    *info = (cudaGraphExecUpdateResultInfo){ .result = cudaGraphExecUpdateSuccess };
    return true;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info)
{
    API_BEGIN();
    cudaGraphExecUpdateResultInfo own;
    info = info ? info : &own;
    *info = (cudaGraphExecUpdateResultInfo){ .result = cudaGraphExecUpdateError };
    if (!emu_exec_valid(exec) || !emu_graph_valid(graph))
        API_END(no_exec(HERE, __func__));
    if (!same_form(exec->graph, graph, info)) /* no finding: programs ask, and instantiate again */
        API_END(cudaErrorGraphExecUpdateFailure);
    for (int i = 0; i < graph->nodes.count; i++) {
        cudaGraphNode_t from = graph->nodes.at[i], to = exec->graph->nodes.at[i];
        to->copy = from->copy;
        to->set = from->set;
        to->host = from->host;
        to->site = from->site;
        to->origin = from;
        if (from->config.args)
            emu_node_set_kernel(to, &from->config, from->config.kind->copy(from->config.args));
        if (!from->child)
            continue;
        emu_exec_end(to->child_run);
        emu_graph_end(to->child);
        to->child = emu_graph_copy(from->child);
        to->child->dead = true;
        to->child_run = emu_exec_new(to->child);
    }
    API_END(cudaSuccess);
}
