/* test_values.c -- numbers and settings of a run's state as texts. */
#include "ckpt/values.h"

#include <criterion/criterion.h>

Test(values, a_fixed_number_is_a_setting_with_its_value_then)
{
    int64_t step = 3;
    mt_state state = { 0 };
    mt_state_integer(&state, &step, "step");
    mt_state_setting(&state, "lr", "%g", 0.5);
    cr_assert_str_eq(mt_state_find(&state, "lr")->setting, "0.5");
    mt_state_fix(&state);
    step = 4;
    cr_assert_str_eq(mt_state_find(&state, "step")->setting, "3");
    mt_state_free(&state);
}

Test(values, numbers_are_texts_and_back)
{
    int64_t step = -3;
    double loss = 0.1, read = 0;
    mt_state state = { 0 }, other = { 0 };
    mt_state_integer(&state, &step, "step");
    mt_state_real(&state, &loss, "loss");
    cr_assert_eq(mt_state_bytes(&state), 16);
    mt_state texts = mt_state_texts(&state);
    cr_assert_str_eq(mt_state_find(&texts, "step")->setting, "-3");
    mt_state_real(&other, &read, "loss");
    const char *text = mt_state_find(&texts, "loss")->setting;
    cr_assert(mt_state_read(other.item, text, "f", true) == MT_OK && read == 0);
    cr_assert(mt_state_read(other.item, text, "f", false) == MT_OK && read == 0.1);
    cr_assert(mt_state_read(other.item, "1.5x", "f", false) == MT_ERR_FORMAT && read == 0.1);
    cr_assert_str_eq(mt_last_error(), "f: \"loss\" is \"1.5x\", not a number");
    cr_assert_eq(mt_state_read(other.item, "", "f", false), MT_ERR_FORMAT);
    cr_assert_eq(mt_state_read(other.item, NULL, "f", false), MT_ERR_FORMAT);
    mt_state_free(&texts);
    mt_state_free(&state);
    mt_state_free(&other);
}
