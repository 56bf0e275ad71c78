/** Random texts of every kind a tokenizer stumbles over, the same for the same name. */

const words =
  "the The cat sat on mat unbelievable I'll we've don't DON'T Straße naïve café ΟΔΟΣ İstanbul ĳ ﬁne ½ ٣٤ 東京 日本語 カタカナ ひらがな 한국어 각 𠮷野家 𩸽 " +
  "עברית العَرَبِيَّة हिन्दी क्षि ไทย ำ русский Ёлка e\u0301 a\u0323\u0302 a\u0302\u0323 o\u031b\u0309 \u0344 👩‍👩‍👧 🏳️‍🌈 👍🏽 🇩🇪 🍕 … ... — ' '' ’s x² ™ ﷺ ㍿ Ⅷ ſ K Å";
const signs = ".,!?;:-_()[]{}<>|/\\'\"#$%&*+=@^`~";
const spaces = [
  " ",
  " ",
  " ",
  "  ",
  "   ",
  "\t",
  "\n",
  "\r\n",
  "\n\n",
  "\u00a0",
  "\u2003",
  "\u3000",
  "\u200b",
  "\u2028",
  "\u0085",
  "\u1680",
  "\ufeff",
];
const odd = [
  "\0",
  "\u0001",
  "\u0008",
  "\u001f",
  "\u007f",
  "\u009f",
  "\u00ad",
  "\u200d",
  "\u200e",
  "\u202e",
  "\ufffd",
  "\ue000",
  "\u2581",
  "▁▁",
  "Ġ",
  "Ċ",
  "\u0300",
  "\u0e33",
  "\u1100",
  "\u1161",
  "\u11a8",
  "\uac00\u11a8",
  "##",
  "</w>",
  "<0x0A>",
];
/** First and last code points of parts that random characters come from. */
const blocks: readonly (readonly [number, number])[] = [
  [0x20, 0x7e],
  [0x20, 0x7e],
  [0xa0, 0x24f],
  [0x300, 0x36f],
  [0x370, 0x52f],
  [0x590, 0x6ff],
  [0x900, 0xe7f],
  [0x1100, 0x11ff],
  [0x1e00, 0x1fff],
  [0x2000, 0x27bf],
  [0x3000, 0x30ff],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0xf900, 0xffef],
  [0x1d400, 0x1d7ff],
  [0x1f300, 0x1f9ff],
  [0x20000, 0x2b739],
  [0, 0x2fff],
];

/** Characters of Unicode 17, which the Rust library does not know yet. */
const newest =
  /[\u088f\u0c5c\u0cdc\u1acf-\u1add\u1ae0-\u1aeb\u20c1\u2b96\ua7ce\ua7cf\ua7d2\ua7d4\ua7f1\ufbc3-\ufbd2\ufd90\ufd91\ufdc8-\ufdce\u{1f6d8}\u{1f777}-\u{1f77a}\u{1f8d0}-\u{1f8d8}]/u;

export function randomTexts(name: string, count: number, special: readonly string[]): string[] {
  const random = randomOf(name);
  const pick = <Value>(from: readonly Value[]): Value => from[Math.floor(random() * from.length)] as Value;
  const known = words.split(" ");
  const part = (): string => {
    const kind = random();
    if (kind < 0.42) return pick(known);
    if (kind < 0.62) return pick(spaces);
    if (kind < 0.7) return signs.charAt(Math.floor(random() * signs.length));
    if (kind < 0.75) return pick(odd);
    if (kind < 0.8 && special.length > 0) return pick(special);
    if (kind < 0.83) return String(Math.floor(random() * 10 ** (1 + 6 * random())));
    if (kind < 0.85) return pick(known).repeat(1 + Math.floor(random() * 40));
    const [first, last] = pick(blocks);
    let text = "";
    for (let length = 1 + Math.floor(random() * 6); length > 0; length--) {
      const point = first + Math.floor(random() * (last - first + 1));
      // Characters of the newest versions of Unicode are not the same in every library.
      if (/[\p{Cn}\p{Cs}]/u.test(String.fromCodePoint(point)) || newest.test(String.fromCodePoint(point))) continue;
      text += String.fromCodePoint(point);
    }
    return text;
  };
  return Array.from({ length: count }, (_text, index) => {
    if (index === 0) return "";
    let text = "";
    for (let parts = 1 + Math.floor(random() * 14); parts > 0; parts--) text += part();
    return text;
  });
}

/** Mulberry32, seeded by a name. */
function randomOf(name: string): () => number {
  let state = 0;
  for (const character of name) state = (Math.imul(state, 31) + (character.codePointAt(0) ?? 0)) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
