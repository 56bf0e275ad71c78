/** Character properties that do not depend on the version of Unicode, or that the Rust library takes from a recent one. */

/** Whether a code point has the Unicode property White_Space. All such characters are in the basic multilingual plane. */
export function isWhitespace(point: number): boolean {
  if (point < 0x80) return point === 0x20 || (point >= 0x09 && point <= 0x0d);
  if (point < 0x1680) return point === 0x85 || point === 0xa0;
  return (
    point === 0x1680 ||
    (point >= 0x2000 && point <= 0x200a) ||
    point === 0x2028 ||
    point === 0x2029 ||
    point === 0x202f ||
    point === 0x205f ||
    point === 0x3000
  );
}

const numeric = /^\p{N}/u;

/** Whether a code point is numeric (general category N): digits, letter numbers, fractions. Same as `char::is_numeric` of Rust. */
export function isNumeric(point: number): boolean {
  if (point < 0x80) return point >= 0x30 && point <= 0x39;
  return numeric.test(String.fromCodePoint(point));
}

/** `is_chinese_char` of BertNormalizer: the blocks of Han characters, with the gap at U+2B820 to U+2B91F that the Rust library has. */
export function isHan(point: number): boolean {
  if (point < 0x3400) return false;
  return (
    (point >= 0x4e00 && point <= 0x9fff) ||
    point <= 0x4dbf ||
    (point >= 0xf900 && point <= 0xfaff) ||
    (point >= 0x20000 && point <= 0x2a6df) ||
    (point >= 0x2a700 && point <= 0x2b81f) ||
    (point >= 0x2b920 && point <= 0x2ceaf) ||
    (point >= 0x2f800 && point <= 0x2fa1f)
  );
}
