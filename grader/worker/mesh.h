/* mesh.h -- how the checks of lab 14 learn what a rank has of a mesh. */
#pragma once

enum { MG_MESH_RANKS = 66, MG_MESH_AXES = 3 /* data, pipeline, tensor */ };

/* The numbers of a call. */
enum {
    MG_MESH_DP,
    MG_MESH_PP,
    MG_MESH_TP,
    MG_MESH_FAILS /* the split that fails, from 0; -1: none */,
    MG_MESH_NUMBERS
};

/* What a rank has. */
enum {
    MG_MESH_STATUS,
    MG_MESH_SPLITS,  /* calls */
    MG_MESH_OPEN,    /* communicators that are not freed in the end */
    MG_MESH_CHANGED, /* whether *out was written */
    MG_MESH_SAID,    /* whether there is a message */
    MG_MESH_FIRST,   /* the axis whose communicator the first split has made; -1: none */
    MG_MESH_SECOND,
    MG_MESH_THIRD,
    MG_MESH_RESULTS,
};
