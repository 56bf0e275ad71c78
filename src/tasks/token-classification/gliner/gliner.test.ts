import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { selectSpans } from "./spans.ts";
import { planWordWindows } from "./windows.ts";
import { splitWords } from "./words.ts";

describe("splitWords", () => {
  it("keeps letters, digits and underscores together, also over a hyphen, and everything else alone", () => {
    const words = (text: string): string[] => splitWords(text).map((word) => word.text);
    expect(words("Jean-Luc's e-mail_2: 3.5%, (a–b)")).toEqual([
      "Jean-Luc",
      "'",
      "s",
      "e-mail_2",
      ":",
      "3",
      ".",
      "5",
      "%",
      ",",
      "(",
      "a",
      "–",
      "b",
      ")",
    ]);
    expect(words("東京 São -x- --")).toEqual(["東京", "São", "-", "x", "-", "-", "-"]);
    expect(words(" \n")).toEqual([]);
  });

  it("leaves out nothing but white space", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const words = splitWords(text);
        for (const { text: word, start, end } of words) expect(text.slice(start, end)).toBe(word);
        expect(words.map((word) => word.text).join("")).toBe(text.replaceAll(/\s/g, ""));
      }),
    );
  });
});

describe("cutWords", () => {
  it("covers every word in order, within the room, and overlaps by no more than the stride", () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 60 });
    fc.assert(
      fc.property(
        sizes,
        fc.integer({ min: 5, max: 20 }),
        fc.integer({ min: 1, max: 9 }),
        fc.nat(12),
        (all, room, most, stride) => {
          const windows = planWordWindows(all, room, most, stride);
          const tokens = (from: number, to: number): number => all.slice(from, to).reduce((sum, size) => sum + size, 0);
          expect(windows[0]?.from ?? 0).toBe(0);
          expect(windows.at(-1)?.to ?? 0).toBe(all.length);
          for (const [index, { from, to }] of windows.entries()) {
            expect(to).toBeGreaterThan(from);
            expect(to - from).toBeLessThanOrEqual(most);
            expect(tokens(from, to)).toBeLessThanOrEqual(room);
            const before = windows[index - 1];
            if (before === undefined) continue;
            expect(from).toBeGreaterThan(before.from);
            expect(from).toBeLessThanOrEqual(before.to);
            expect(tokens(from, before.to)).toBeLessThanOrEqual(stride);
          }
        },
      ),
    );
  });
});

describe("chooseSpans", () => {
  const span = fc
    .tuple(fc.nat(12), fc.integer({ min: 1, max: 5 }), fc.nat(2), fc.integer({ min: 1, max: 9 }))
    .map(([start, length, label, score]) => ({ start, end: start + length, label, score: score / 10 }));

  it("keeps the best, and nothing that may not stand beside what is kept", () => {
    fc.assert(
      fc.property(fc.array(span, { maxLength: 20 }), fc.boolean(), fc.boolean(), (spans, nested, multiLabel) => {
        const chosen = selectSpans(spans, { nested, multiLabel });
        const best = Math.max(...spans.map(({ score }) => score));
        expect(spans.length === 0 || chosen.some(({ score }) => score === best)).toBe(true);
        for (const [index, a] of chosen.entries()) {
          for (const b of chosen.slice(index + 1)) {
            const same = a.start === b.start && a.end === b.end;
            const apart = a.end <= b.start || b.end <= a.start;
            const inside = (a.start <= b.start && b.end <= a.end) || (b.start <= a.start && a.end <= b.end);
            expect(same ? multiLabel && a.label !== b.label : apart || (nested && inside)).toBe(true);
          }
        }
      }),
    );
  });
});
