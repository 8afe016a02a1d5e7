/* PNG pictures of heights. The files below were compressed by zlib; their values are those of grey_at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "io/mesh/png_grey.h"
#include "moreau/moreau.h"

static long grey_at(long i, long j, int white)
{
    return white == 255 ? (7 * i + 5 * j + i * j / 3) % 256 : (1009 * i + 2003 * i * j + 77 * j) % 65536;
}

/* clang-format off */
static const struct {
    const char* what;
    long width, height;
    int white;
    const char* hex;
} good[] = {
    { "own codes, four parts", 24, 50, 255,
        "89504e470d0a1a0a0000000d4948445200000018000000320800000000632b44740000000374455874610062dc49a23b0000"
        "00954944415478da75d05f4853511c07f07bddbddbee3dbfdf39e76e6b4ec807511864124825b4247c1992d1c8512054a33f"
        "600ba187055b85a010ae582b07658a0f22e68b040bf5a1445f1a647fd0481ff65059035fc207935aafebe130dbf2de1fdfa7"
        "ef39bffbe7234b0ef3a95155d56eb73b1c0ea7d3a9699aaeeb841000b03945297a71a4e9ba4e947ff7ab47f2ec6f6a39d21e"
        "3c7d2ed27b818ed37000000095494441542331702f33363933bb90fbb02ed78927ec498df9ab116d1e518a5e1ce93a2144f9"
        "ff6bcb915ada3abace46a2b1fe64667c3afb2ab7922f6c154b9a5b6e15bb7b5263f1e3686bd0344d34a2143d80b2d70a0801"
        "42a4e0990bd19b030f9e4e6517deac7dfd5194c0d7782810ec96bbc07cacd95bcace4434020450a9be8fbb5652a4ef56f2f1"
        "6476f15d7e73a70475fec31da1f3d1f8f5d7f2c20000009549444154dd8c7c1529358b35fbb1b23390140020002252c44a76"
        "56b922259223d3f3b9b5c2cf12ad3f1838d9732d3ef4e4d9dceb4f723f63dc2cd6ecc1b233202222524a29a58c2956565266"
        "7236b7be5954bdfeb6ce9ee8edd4f8f3a5958ded1297470cf3b1660f1300c034200a25ca18658c71c5ca4a9a595c2dfc527d"
        "078e872ec5864667963e167edb7dcded2139eb72bbcd62cd1e01c0e2fb02e600000093494441543452444a29a394092bce15"
        "2b2b2997df2ab9fd81d095786a626ef9f3b6adb6f944b8f7ce23f9adc7b3cf2cd6ec7d943ea49432c618639c0f73ce0dc330"
        "0c4555556fc58a7797fdcb8ea3beb5f362ecfec4fcfbef45d270f4d4e5787aeae5aa5cf09a8f357ba2eccc19e7c386c10dc3"
        "70b90c57357b6d057b111a03ddd1c1d1ecf246119b02e1eb83632f96bffdc1bf6c70ac9f1240ae7b0000000049454e44ae42"
        "6082" },
    { "a fixed code", 6, 5, 65535,
        "89504e470d0a1a0a0000000d494844520000000600000005100000000013a31e790000000374455874610062dc49a23b0000"
        "004349444154780163646060fec802854c0cbe9c0a029f258e29ccd4c8616628e1bb23e42ab65e72861c130b832fc776908c"
        "f44ce91c0646139542f77559affb3436a60200883814ca5db0d5b50000000049454e44ae426082" },
    { "stored", 5, 6, 255,
        "89504e470d0a1a0a0000000d4948445200000005000000060804000000a1f29cc00000000374455874610062dc49a23b0000"
        "004d494441547801014200bdff0100ff07000700070007000205000500050006000600030880060007000700070004050006"
        "000600060007000014ff1cff24ff2dff35ff0119ff0800090009000800d0e708eee7d713bf0000000049454e44ae426082" },
    { "grey colours", 9, 7, 255,
        "89504e470d0a1a0a0000000d494844520000000900000007080200000055f9f0370000000374455874610062dc49a23b0000"
        "004f4944415478da6364606060c701985861800d06e072cc1c1c1cc87c0e30803058b0ea80a860101111919191515151d1d5"
        "d5353535b5b5b5757373f3f3f30b0b0b63949494042ae104033406131e330132ef0a37c24d3ffd0000000049454e44ae4260"
        "82" },
    { "grey colours, opaque", 7, 8, 65535,
        "89504e470d0a1a0a0000000d4948445200000007000000081006000000659439450000000374455874610062dc49a23b0000"
        "016049444154780105c1b1cec1501880e1b775865ae463904a454a441a27c2c0dce98fa99761d12e1217c00d987535994813"
        "89cdd82bc0e40e4c271d0de77f1e0700acad999aa919504619654019659401659451069451461950461965c0252121817a58"
        "0feb2148259554e0977ee99710e6611ee61065511665308da7f134861a5bb66c77bbc6a7f1697ca0f5d7fa6bfd41fbdabeb6"
        "afd039768e9d23f4dc9edb7361900ed2410a8a848404bcbb77f7ee20955452815ffaa55f4290077990439005599041f7dd7d"
        "77df803377e6cedcdae166b8196eac5d5e9697e5c5daf577fd5d7fad3d4487e810595bac8a55b1b2f6797a9e9e276b1d67ef"
        "ec9dbdb55ab468012d5ab480162d5a408b162da0458b16d0a2450bb8242424e0855ee88520955452815ffaa55f4298877998"
        "4394455994c12c9ec5b3186aeecdbdb9b7ddae9ff6d37e0aa3d7e8357ac1f8317e8c1f30394fce933314cda2593461f15bfc"
        "163ff8074bc182ea4771cb330000000049454e44ae426082" },
};

static const struct {
    const char *why, *hex;
} bad[] = {
    { "interlaced",
        "89504e470d0a1a0a0000000d4948445200000004000000040800000001fb9df1340000000374455874610062dc49a23b0000"
        "001c4944415478da6364606767676265656563e66063676761656363030003ed00689e4369a40000000049454e44ae426082" },
    { "column 2, row 3 is not grey",
        "89504e470d0a1a0a0000000d4948445200000004000000040802000000269309290000000374455874610062dc49a23b0000"
        "00274944415478da6364606060870126561860636363e6e0e06063636567e700cab080c5d8d9c000001c24012383c1133500"
        "00000049454e44ae426082" },
    { "column 3, row 2 is transparent",
        "89504e470d0a1a0a0000000d4948445200000004000000040806000000a9f19e7e0000000374455874610062dc49a23b0000"
        "002f4944415478da358a410e002008c38608ecd9fe1c5d228726cd3a03d055856145043e9d99709247f2aae9b155350c179a"
        "ff03a167a78a140000000049454e44ae426082" },
};
/* clang-format on */

static size_t from_hex(const char* hex, unsigned char* bytes)
{
    size_t n = strlen(hex) / 2;
    for (size_t k = 0; k < n; k++) {
        unsigned value;
        assert_int_equal(sscanf(hex + 2 * k, "%2x", &value), 1);
        bytes[k] = (unsigned char)value;
    }
    return n;
}

static mor_code read_bytes(const unsigned char* bytes, size_t n, long most, mor_error* error)
{
    mor_arena* arena = mor_arena_create(NULL);
    mor_grey_picture p;
    mor_code code = mor_png_read(bytes, n, most, arena, &p, error);
    mor_arena_destroy(arena);
    return code;
}

static void every_form_gives_its_values(void** state)
{
    (void)state;
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        unsigned char bytes[4000];
        size_t n = from_hex(good[k].hex, bytes);
        mor_arena* arena = mor_arena_create(NULL);
        mor_grey_picture p;
        mor_error e = { 0 };
        assert_true(mor_is_png(bytes, n));
        if (mor_png_read(bytes, n, 10000, arena, &p, &e)) fail_msg("%s: %s", good[k].what, e.text);
        assert_int_equal(p.width, good[k].width);
        assert_int_equal(p.height, good[k].height);
        assert_int_equal(p.white, good[k].white);
        for (long j = 0; j < p.height; j++)
            for (long i = 0; i < p.width; i++) assert_int_equal(p.values[j * p.width + i], grey_at(i, j, p.white));
        mor_arena_destroy(arena);
    }
}

/* Checksums cover all that is stored: no changed byte and no missing end goes unnoticed. */
static void every_damage_is_noticed(void** state)
{
    (void)state;
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        unsigned char bytes[4000];
        size_t n = from_hex(good[k].hex, bytes);
        for (size_t at = 0; at < n; at++) {
            mor_error e = { 0 };
            assert_int_equal(read_bytes(bytes, at, 10000, &e), MOR_BAD_INPUT);
            for (int bit = 0; bit < 8; bit++) {
                bytes[at] ^= (unsigned char)(1 << bit);
                e = (mor_error){ 0 };
                assert_int_equal(read_bytes(bytes, n, 10000, &e), MOR_BAD_INPUT);
                assert_true(strlen(e.text) > 10);
                bytes[at] ^= (unsigned char)(1 << bit);
            }
        }
    }
}

/* Compressed data with changed bytes, without the checksums of the file: it comes back and stays within its bounds. */
static void damaged_streams_come_back(void** state)
{
    (void)state;
    unsigned char bytes[4000], out[1250];
    size_t n = from_hex(good[0].hex, bytes);
    uint32_t random = 1;
    for (int k = 0; k < 20000; k++) {
        random = random * 1664525u + 1013904223u;
        size_t from = 8 + 25 + 15 + 8 + 2, at = from + (random >> 8) % (n - from - 60);
        unsigned char old = bytes[at];
        bytes[at] = (unsigned char)(random >> 24);
        mor_inflate(bytes + from - 2, n - from, out, sizeof out);
        if (k % 3) bytes[at] = old;
    }
}

static void what_is_not_read_is_told(void** state)
{
    (void)state;
    unsigned char bytes[4000];
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        mor_error e = { 0 };
        assert_int_equal(read_bytes(bytes, from_hex(bad[k].hex, bytes), 10000, &e), MOR_BAD_INPUT);
        if (!strstr(e.text, bad[k].why)) fail_msg("%s, not %s", e.text, bad[k].why);
    }
    mor_error e = { 0 };
    assert_int_equal(read_bytes(bytes, from_hex(good[0].hex, bytes), 1199, &e), MOR_BAD_INPUT);
    assert_non_null(strstr(e.text, "24 times 50 pixels; the limit is 1199"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_gives_its_values),
        cmocka_unit_test(every_damage_is_noticed),
        cmocka_unit_test(damaged_streams_come_back),
        cmocka_unit_test(what_is_not_read_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
