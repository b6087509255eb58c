__global__ void sample(float *out, cudaTextureObject_t image)
{
    cudaSurfaceObject_t other;                       // REFUSED: surfaces are not emulated
    out[threadIdx.x] = tex3D<float>(image, 0, 0, 0); // REFUSED: `tex3D` is not supported by the emulator: of textures
}
