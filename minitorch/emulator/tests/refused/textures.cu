__global__ void sample(float *out, cudaTextureObject_t image) // REFUSED: `cudaTextureObject_t` is not supported
{
    out[threadIdx.x] =
        tex2D<float>(image, threadIdx.x, 0.5f); // REFUSED: `tex2D` is not supported by the emulator: textures
}
