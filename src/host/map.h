/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * map.h - MAP(p, a, b, ..) gives pa, pb, ..; JOIN(p, a, b, ..) the same without commas.  With them
 * the kinds of a signature become parameters, arguments, or other text that the including file
 * defines.
 */
#ifndef HUD_MAP_H
#define HUD_MAP_H

#define MAP_1(p, a) p##a
#define MAP_2(p, a, ...) p##a, MAP_1(p, __VA_ARGS__)
#define MAP_3(p, a, ...) p##a, MAP_2(p, __VA_ARGS__)
#define MAP_4(p, a, ...) p##a, MAP_3(p, __VA_ARGS__)
#define MAP_5(p, a, ...) p##a, MAP_4(p, __VA_ARGS__)
#define MAP_6(p, a, ...) p##a, MAP_5(p, __VA_ARGS__)
#define MAP_7(p, a, ...) p##a, MAP_6(p, __VA_ARGS__)
#define MAP_8(p, a, ...) p##a, MAP_7(p, __VA_ARGS__)
#define MAP_9(p, a, ...) p##a, MAP_8(p, __VA_ARGS__)
#define MAP_10(p, a, ...) p##a, MAP_9(p, __VA_ARGS__)
#define MAP_11(p, a, ...) p##a, MAP_10(p, __VA_ARGS__)
#define MAP_12(p, a, ...) p##a, MAP_11(p, __VA_ARGS__)

#define JOIN_1(p, a) p##a
#define JOIN_2(p, a, ...) p##a JOIN_1(p, __VA_ARGS__)
#define JOIN_3(p, a, ...) p##a JOIN_2(p, __VA_ARGS__)
#define JOIN_4(p, a, ...) p##a JOIN_3(p, __VA_ARGS__)
#define JOIN_5(p, a, ...) p##a JOIN_4(p, __VA_ARGS__)
#define JOIN_6(p, a, ...) p##a JOIN_5(p, __VA_ARGS__)
#define JOIN_7(p, a, ...) p##a JOIN_6(p, __VA_ARGS__)
#define JOIN_8(p, a, ...) p##a JOIN_7(p, __VA_ARGS__)
#define JOIN_9(p, a, ...) p##a JOIN_8(p, __VA_ARGS__)
#define JOIN_10(p, a, ...) p##a JOIN_9(p, __VA_ARGS__)
#define JOIN_11(p, a, ...) p##a JOIN_10(p, __VA_ARGS__)
#define JOIN_12(p, a, ...) p##a JOIN_11(p, __VA_ARGS__)

#define MAP_NTH(a, b, c, d, e, f, g, h, i, j, k, l, name, ...) name
#define MAP_PICK(p, ...)                                                                           \
    MAP_NTH(__VA_ARGS__, p##12, p##11, p##10, p##9, p##8, p##7, p##6, p##5, p##4, p##3, p##2,      \
            p##1, none)
#define MAP(p, ...) MAP_PICK(MAP_, __VA_ARGS__)(p, __VA_ARGS__)
#define JOIN(p, ...) MAP_PICK(JOIN_, __VA_ARGS__)(p, __VA_ARGS__)

#endif
