/* mnist.c -- a perceptron learns to read handwritten digits: a whole training program, from the files to the accuracy.
 *
 * `make mnist` runs it, docs/TOUR.md follows a batch. train_mnist.c is the same loop with what a long run needs. */
#include <stdio.h>

#include "mt.h"

enum { EPOCHS = 3, BATCH = 64, HIDDEN = 256, SEED = 1 };

/* The share of a data set's images whose largest logit is that of their label. */
static double accuracy(mt_module *model, mt_loader *loader)
{
    int64_t right = 0, count = 0;
    mt_batch batch;
    mt_no_grad_begin(); /* from here to mt_no_grad_end nothing is recorded for backward */
    while (mt_loader_next(loader, &batch)) {
        mt_scope_begin();
        const int64_t *answer = mt_data(mt_argmax(mt_forward(model, batch.x)));
        const int32_t *label = mt_data(batch.y);
        for (int64_t i = 0; i < batch.count; i++)
            right += answer[i] == label[i];
        count += batch.count;
        mt_scope_end();
    }
    mt_no_grad_end();
    mt_must(mt_loader_status(loader));
    return (double)right / (double)count;
}

int main(void)
{
    mt_flush_denormals(true); /* numbers below 1e-38, which are slow, are 0 */
    /* Data: x is an image of 28 x 28 numbers, y its label, 0 to 9. Each epoch has the images in another order. */
    mt_mnist mnist;
    mt_must(mt_mnist_open(&mnist, mt_mnist_folder()));
    mt_loader_config training = mt_loader_config_default(mnist.train), testing = mt_loader_config_default(mnist.test);
    training.batch = testing.batch = BATCH;
    training.sampler = mt_sampler_shuffling(mnist.train->count, SEED);
    mt_loader *train = mt_loader_new(&training), *test = mt_loader_new(&testing);

    /* Model: images to hidden units to one number a class, the logits. */
    mt_rng rng = mt_rng_new(SEED, MT_STREAM_INIT);
    mt_module *hidden = mt_linear_layer(mt_shape_numel(mnist.train->x.shape), HIDDEN, &rng);
    mt_module *output = mt_linear_layer(HIDDEN, MT_MNIST_CLASSES, &rng);
    mt_module *model = mt_sequential(3, hidden, mt_function_layer(mt_relu), output);
    mt_optim *optim = mt_optim_new(MT_ADAM, mt_hyper_default(MT_ADAM));
    mt_optim_add_all(optim, mt_module_params(model));
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        double sum = 0;
        mt_batch batch;
        while (mt_loader_next(train, &batch)) {
            mt_scope_begin(); /* tensors made from here to mt_scope_end are freed there, or earlier */
            mt_tensor *loss = mt_cross_entropy(mt_forward(model, batch.x), batch.y);
            mt_backward(loss);         /* the gradient of the loss by each parameter, */
            mt_optim_step(optim);      /* a small step against it, */
            mt_optim_zero_grad(optim); /* and the next batch starts anew */
            sum += mt_item(loss) * (double)batch.count;
            mt_scope_end();
        }
        mt_must(mt_loader_status(train));
        printf("epoch %d  loss %.4f  test accuracy %.2f %%\n", epoch, sum / (double)mnist.train->count,
               100 * accuracy(model, test));
        fflush(stdout);
    }
    mt_loader_free(train);
    mt_loader_free(test);
    mt_optim_free(optim);
    mt_module_free(model);
    mt_mnist_close(&mnist);
}
