/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * map.h - MAP(f, a, b, ..) expands to f(a), f(b), ..; JOIN(f, a, b, ..) expands to the same without
 * commas.  They convert the kinds of a signature to parameters, arguments, or other text.
 */
#ifndef HUD_MAP_H
#define HUD_MAP_H

#define MAP_1(f, a) f(a)
#define MAP_2(f, a, ...) f(a), MAP_1(f, __VA_ARGS__)
#define MAP_3(f, a, ...) f(a), MAP_2(f, __VA_ARGS__)
#define MAP_4(f, a, ...) f(a), MAP_3(f, __VA_ARGS__)
#define MAP_5(f, a, ...) f(a), MAP_4(f, __VA_ARGS__)
#define MAP_6(f, a, ...) f(a), MAP_5(f, __VA_ARGS__)
#define MAP_7(f, a, ...) f(a), MAP_6(f, __VA_ARGS__)
#define MAP_8(f, a, ...) f(a), MAP_7(f, __VA_ARGS__)
#define MAP_9(f, a, ...) f(a), MAP_8(f, __VA_ARGS__)
#define MAP_10(f, a, ...) f(a), MAP_9(f, __VA_ARGS__)
#define MAP_11(f, a, ...) f(a), MAP_10(f, __VA_ARGS__)
#define MAP_12(f, a, ...) f(a), MAP_11(f, __VA_ARGS__)

#define JOIN_1(f, a) f(a)
#define JOIN_2(f, a, ...) f(a) JOIN_1(f, __VA_ARGS__)
#define JOIN_3(f, a, ...) f(a) JOIN_2(f, __VA_ARGS__)
#define JOIN_4(f, a, ...) f(a) JOIN_3(f, __VA_ARGS__)
#define JOIN_5(f, a, ...) f(a) JOIN_4(f, __VA_ARGS__)
#define JOIN_6(f, a, ...) f(a) JOIN_5(f, __VA_ARGS__)
#define JOIN_7(f, a, ...) f(a) JOIN_6(f, __VA_ARGS__)
#define JOIN_8(f, a, ...) f(a) JOIN_7(f, __VA_ARGS__)
#define JOIN_9(f, a, ...) f(a) JOIN_8(f, __VA_ARGS__)
#define JOIN_10(f, a, ...) f(a) JOIN_9(f, __VA_ARGS__)
#define JOIN_11(f, a, ...) f(a) JOIN_10(f, __VA_ARGS__)
#define JOIN_12(f, a, ...) f(a) JOIN_11(f, __VA_ARGS__)

#define MAP_NTH(a, b, c, d, e, f, g, h, i, j, k, l, name, ...) name
#define MAP_PICK(p, ...)                                                                           \
    MAP_NTH(__VA_ARGS__, p##12, p##11, p##10, p##9, p##8, p##7, p##6, p##5, p##4, p##3, p##2,      \
            p##1, none)
#define MAP(f, ...) MAP_PICK(MAP_, __VA_ARGS__)(f, __VA_ARGS__)
#define JOIN(f, ...) MAP_PICK(JOIN_, __VA_ARGS__)(f, __VA_ARGS__)

#endif
