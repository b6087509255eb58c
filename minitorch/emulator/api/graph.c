/* graph.c -- graphs, and how an instantiated one runs.
 *
 * The nodes run one after another in an order that respects their dependencies. Nodes that do not depend on each other
 * may run at the same time on a GPU: each chain of nodes has a branch of its own, a stream, and begins after the clocks
 * of what it depends on (stream_order.h). So a missing dependency is reported as a race between streams.
 *
 * Graphs that ended are never freed, so that their handles are recognised.
 */
#include <stdlib.h>
#include "emulator/api/pending.h"
#include "emulator/api/stream.h"

static cudaGraph_t graphs;
static cudaGraphExec_t execs;

static void *zeroed(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p)
        abort();
    return p;
}

void emu_nodes_add(emu_nodes *set, cudaGraphNode_t node)
{
    for (int i = 0; i < set->count; i++)
        if (set->at[i] == node)
            return;
    cudaGraphNode_t *grown = realloc(set->at, (size_t)(set->count + 1) * sizeof(cudaGraphNode_t));
    if (!grown)
        abort();
    set->at = grown;
    set->at[set->count++] = node;
}

cudaGraph_t emu_graph_new(void)
{
    cudaGraph_t graph = zeroed(1, sizeof *graph);
    graph->next = graphs;
    return graphs = graph;
}

bool emu_graph_valid(cudaGraph_t graph)
{
    for (cudaGraph_t g = graphs; g; g = g->next)
        if (g == graph)
            return !g->dead;
    return false;
}

bool emu_node_valid(cudaGraphNode_t node)
{
    for (cudaGraph_t g = graphs; g; g = g->next)
        for (int i = 0; i < g->nodes.count && !g->dead; i++)
            if (g->nodes.at[i] == node)
                return true;
    return false;
}

cudaGraphNode_t emu_node_new(cudaGraph_t graph, cudaGraphNodeType type, emu_site site, const emu_nodes *after)
{
    cudaGraphNode_t node = zeroed(1, sizeof *node);
    node->type = type;
    node->site = site;
    node->graph = graph;
    node->place = graph->nodes.count;
    for (int i = 0; i < after->count; i++)
        emu_nodes_add(&node->after, after->at[i]);
    emu_nodes_add(&graph->nodes, node);
    return node;
}

static void drop_arguments(cudaGraphNode_t node)
{
    if (node->config.args)
        node->config.kind->drop(node->config.args);
    free(node->arguments);
    node->config.args = node->arguments = NULL;
}

void emu_node_set_kernel(cudaGraphNode_t node, const cuemu_launch_config *config, void *args)
{
    void *stream = NULL;
    drop_arguments(node);
    node->config = *config;
    node->config.args = args;
    node->config.stream = stream;
    node->arguments = zeroed((size_t)config->kind->count, sizeof *node->arguments);
    config->kind->list(args, node->arguments);
}

cudaGraph_t emu_graph_copy(cudaGraph_t graph)
{
    cudaGraph_t made = emu_graph_new();
    for (int i = 0; i < graph->nodes.count; i++) {
        cudaGraphNode_t from = graph->nodes.at[i], to = emu_node_new(made, from->type, from->site, &(emu_nodes){ 0 });
        to->origin = from;
        to->copy = from->copy;
        to->set = from->set;
        to->host = from->host;
        to->child = from->child ? emu_graph_copy(from->child) : NULL;
        if (to->child)
            to->child->dead = true;
        if (from->config.args)
            emu_node_set_kernel(to, &from->config, from->config.kind->copy(from->config.args));
    }
    for (int i = 0; i < graph->nodes.count; i++)
        for (int k = 0; k < graph->nodes.at[i]->after.count; k++)
            emu_nodes_add(&made->nodes.at[i]->after, made->nodes.at[graph->nodes.at[i]->after.at[k]->place]);
    return made;
}

void emu_graph_end(cudaGraph_t graph)
{
    graph->dead = true;
    for (int i = 0; i < graph->nodes.count; i++) {
        drop_arguments(graph->nodes.at[i]);
        if (graph->nodes.at[i]->child)
            emu_graph_end(graph->nodes.at[i]->child);
    }
}

bool emu_graph_order(cudaGraph_t graph, cudaGraphNode_t *order)
{
    int count = graph->nodes.count, done = 0;
    bool *placed = zeroed((size_t)count, sizeof *placed);
    for (int before = -1; before < done;) {
        before = done;
        for (int i = 0; i < count; i++) {
            cudaGraphNode_t node = graph->nodes.at[i];
            int waits = placed[i];
            for (int k = 0; k < node->after.count; k++)
                waits += !placed[node->after.at[k]->place];
            if (waits)
                continue;
            placed[i] = true;
            order[done++] = node;
        }
    }
    free(placed);
    return done == count;
}

/* ---- instantiated graphs ----------------------------------------------------------------------------------------- */

bool emu_exec_valid(cudaGraphExec_t exec)
{
    for (cudaGraphExec_t e = execs; e; e = e->next)
        if (e == exec)
            return e->graph;
    return false;
}

/* A node continues the branch of one that it comes after and that no other node continues; else it begins one. */
static void place_on_branches(cudaGraphExec_t exec)
{
    int count = exec->graph->nodes.count, used = 0;
    bool *continued = zeroed((size_t)count, sizeof *continued);
    for (int i = 0; i < count; i++) {
        cudaGraphNode_t node = exec->order[i];
        node->branch = -1;
        for (int k = 0; k < node->after.count && node->branch < 0; k++) {
            const struct CUgraphNode_st *before = node->after.at[k];
            if (continued[before->place])
                continue;
            continued[before->place] = true;
            node->branch = before->branch;
        }
        if (node->branch < 0)
            node->branch = used++;
    }
    free(continued);
    exec->branches = used > 1 ? used - 1 : 0;
    exec->branch = zeroed((size_t)exec->branches, sizeof(cudaStream_t));
    for (int i = 0; i < exec->branches; i++)
        if (emu_stream_new(&exec->branch[i], cudaStreamNonBlocking) != cudaSuccess)
            abort();
}

cudaGraphExec_t emu_exec_new(cudaGraph_t graph)
{
    cudaGraphExec_t exec = zeroed(1, sizeof *exec);
    exec->graph = emu_graph_copy(graph);
    exec->graph->dead = true;
    exec->order = zeroed((size_t)graph->nodes.count, sizeof(cudaGraphNode_t));
    bool possible = emu_graph_order(exec->graph, exec->order);
    for (int i = 0; possible && i < graph->nodes.count; i++) {
        cudaGraphNode_t node = exec->graph->nodes.at[i];
        if (node->child)
            possible = (node->child_run = emu_exec_new(node->child)) != NULL;
    }
    exec->next = execs;
    execs = exec;
    if (possible)
        place_on_branches(exec);
    else
        emu_exec_end(exec);
    return possible ? exec : NULL;
}

void emu_exec_end(cudaGraphExec_t exec)
{
    for (int i = 0; i < exec->graph->nodes.count; i++)
        if (exec->graph->nodes.at[i]->child_run)
            emu_exec_end(exec->graph->nodes.at[i]->child_run);
    emu_graph_end(exec->graph);
    exec->graph = NULL;
    for (int i = 0; i < exec->branches; i++)
        emu_stream_end(exec->branch[i]);
    exec->branches = 0;
}

static cudaError_t run_node(cudaGraphNode_t node, cudaStream_t stream)
{
    cuemu_launch_config config = node->config;
    config.stream = stream;
    switch (node->type) {
    case cudaGraphNodeTypeKernel:
        return (cudaError_t)cuemu_launch(&config);
    case cudaGraphNodeTypeMemcpy:
        return emu_run_copy(&node->copy, stream, node->site.pc, "a copy of a graph");
    case cudaGraphNodeTypeMemset:
        return emu_run_set(&node->set, stream, node->site.pc, "a memset of a graph");
    case cudaGraphNodeTypeHost:
        emu_host_in_stream(emu_stream_timeline(stream));
        node->host.fn(node->host.userData);
        emu_host_in_stream(-1);
        return cudaSuccess;
    case cudaGraphNodeTypeGraph:
        return emu_graph_run(node->child_run, stream);
    case cudaGraphNodeTypeEmpty:
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

/* A launch comes after what is on the stream, and after earlier launches of the same graph. */
cudaError_t emu_graph_run(cudaGraphExec_t exec, cudaStream_t stream)
{
    cudaError_t error = emu_stream_work(stream);
    emu_clock begin = *emu_timeline_clock(emu_stream_timeline(stream));
    emu_clock_join(&begin, &exec->end);
    exec->end = begin;
    for (int i = 0; i < exec->graph->nodes.count && error == cudaSuccess; i++) {
        cudaGraphNode_t node = exec->order[i];
        cudaStream_t on = node->branch ? exec->branch[node->branch - 1] : stream;
        emu_clock *clock = emu_timeline_clock(emu_stream_timeline(on));
        emu_clock_join(clock, &begin);
        for (int k = 0; k < node->after.count; k++)
            emu_clock_join(clock, &node->after.at[k]->clock);
        emu_graph_runs = true;
        error = run_node(node, on);
        emu_graph_runs = false;
        error = error == cudaSuccess ? emu_sticky() : error;
        node->clock = *emu_timeline_clock(emu_stream_timeline(on));
        emu_clock_join(&exec->end, &node->clock);
    }
    emu_clock_join(emu_timeline_clock(emu_stream_timeline(stream)), &exec->end);
    return error;
}
