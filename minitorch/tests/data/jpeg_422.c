/* jpeg_422.c -- makes jpeg_422.jpg, a picture of 16 x 8 pixels whose colour is stored at half the width (4:2:2), and
 * jpeg_422.rgb, the same as libjpeg decodes it, which test_image.c compares with. Made with libjpeg-turbo 2.1.5:
 *
 *     cd minitorch/tests/data && gcc -o /tmp/jpeg_422 jpeg_422.c -ljpeg && /tmp/jpeg_422 */
#include <stdio.h>

#include <jpeglib.h>

enum { WIDTH = 16, HEIGHT = 8 };

/* Two columns of each colour, so that halving the width loses nothing; the last two colours differ most. */
static const unsigned char colours[WIDTH / 2][3] = { { 200, 60, 60 },  { 60, 200, 60 },  { 60, 60, 200 },
                                                     { 200, 200, 60 }, { 60, 200, 200 }, { 200, 60, 200 },
                                                     { 40, 40, 220 },  { 220, 40, 40 } };

static void encode(const char *path)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr error;
    FILE *file = fopen(path, "wb");
    jpeg.err = jpeg_std_error(&error);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = WIDTH;
    jpeg.image_height = HEIGHT;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 95, TRUE);
    jpeg.comp_info[0].h_samp_factor = 2;
    jpeg.comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < HEIGHT; y++) {
        unsigned char row[WIDTH * 3], *rows[] = { row };
        for (int i = 0; i < WIDTH * 3; i++)
            row[i] = colours[i / 6][i % 3];
        jpeg_write_scanlines(&jpeg, rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    fclose(file);
}

static void decode(const char *from, const char *to)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr error;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    jpeg.err = jpeg_std_error(&error);
    jpeg_create_decompress(&jpeg);
    jpeg_stdio_src(&jpeg, in);
    jpeg_read_header(&jpeg, TRUE);
    jpeg_start_decompress(&jpeg);
    for (int y = 0; y < HEIGHT; y++) {
        unsigned char row[WIDTH * 3], *rows[] = { row };
        jpeg_read_scanlines(&jpeg, rows, 1);
        fwrite(row, 1, sizeof row, out);
    }
    fclose(in);
    fclose(out);
}

int main(void)
{
    encode("jpeg_422.jpg");
    decode("jpeg_422.jpg", "jpeg_422.rgb");
}
