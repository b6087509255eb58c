/* nvToolsExt.h -- ranges for a profiler; they have no effect here. */
#ifndef CUEMU_NVTOOLSEXT_H
#define CUEMU_NVTOOLSEXT_H
static inline int nvtxRangePushA(const char *name)
{
    (void)name;
    return 0;
}
static inline int nvtxRangePop(void)
{
    return 0;
}
static inline void nvtxMarkA(const char *name)
{
    (void)name;
}
#define nvtxRangePush nvtxRangePushA
#define nvtxMark      nvtxMarkA
#endif
