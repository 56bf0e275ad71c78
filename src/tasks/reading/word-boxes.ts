/** Words of a line with their boxes, from the steps at which the recognizer saw their characters. */
import { invertTransform, perspectiveTransform, transformPoint } from "../../processors/images/geometry/perspective.ts";
import { type PixelPoint, type Quadrilateral, distance32 } from "../../processors/images/geometry/points.ts";
import { roundHalfEven } from "../../processors/images/geometry/rounding.ts";
import type { RecognizedCharacter, RecognizedLine } from "./decode-ctc.ts";

/** A word, or a character of a script without spaces. */
export interface ReadWord {
  readonly text: string;
  /** Mean probability of its characters, from 0 to 1, with five decimals. */
  readonly score: number;
  /** Corners `[x, y]` in pixels of the page, clockwise from the upper left. */
  readonly box: Quadrilateral;
}

/** Where a line lies, and how the recognizer saw it. */
export interface LineLayout {
  /** The box of the line on the page. */
  readonly box: Quadrilateral;
  /** Size in pixels of the line as the recognizer saw it, turned upright. */
  readonly width: number;
  readonly height: number;
  /** Width of the line over the width of the recognizer's input. */
  readonly filled: number;
  /** Whether it was turned by a quarter counter-clockwise before it was read. */
  readonly turned: boolean;
  /** Whether it was turned by a half before it was read. */
  readonly upsideDown: boolean;
}

/** Steps between two characters from which they are different words. */
const wordGap = 5;

/** A word before it has a box: its characters, and whether they are of a script without spaces. */
interface Word {
  readonly ideographic: boolean;
  readonly characters: RecognizedCharacter[];
}

/** Splits a line at spaces, at gaps, and between Chinese and other characters; characters of a line with any Chinese ones are words of their own. */
export function findWords(line: RecognizedLine, layout: LineLayout): readonly ReadWord[] {
  const words = splitWords(line.characters);
  const [first] = words;
  if (first === undefined) return [];
  const stepWidth = layout.width / (line.steps * layout.filled);
  const widths = words.flatMap(({ characters }) => {
    const steps = (characters.at(-1)?.step ?? 0) - (characters[0]?.step ?? 0);
    return characters.length < 2 ? [] : [(steps * stepWidth) / (characters.length - 1)];
  });
  const width =
    widths.length > 0 ? widths.reduce((sum, each) => sum + each, 0) / widths.length : layout.width / Array.from(line.text).length;
  const apart = words.some(({ ideographic }) => ideographic)
    ? words.flatMap(({ characters }) => characters.map((each) => [each]))
    : words.map(({ characters }) => characters);
  const spans = separate(
    apart.map((characters) => {
      const [from, to] = [characters[0]?.step ?? 0, characters.at(-1)?.step ?? 0].map((step) => (step + 0.5) * stepWidth);
      const left = Math.max(Math.trunc((from ?? 0) - width / 2), 0);
      return { characters, left, right: Math.min(Math.trunc((to ?? 0) + width / 2), layout.width) };
    }),
  );
  const toPage = linePlacement(layout);
  return spans.map(({ characters, left, right }) => ({
    text: characters.map(({ text }) => text).join(""),
    score: roundHalfEven((characters.reduce((sum, { score }) => sum + score, 0) / characters.length) * 1e5) / 1e5,
    box: toPage(left, right),
  }));
}

function splitWords(characters: readonly RecognizedCharacter[]): readonly Word[] {
  const words: Word[] = [];
  let current: Word | undefined;
  let before: number | undefined;
  for (const character of characters) {
    const gap = before === undefined ? 0 : character.step - before;
    before = character.step;
    if (/^\s*$/u.test(character.text)) {
      current = undefined;
      continue;
    }
    const ideographic = isIdeographic(character.text);
    if (current === undefined || current.ideographic !== ideographic || gap > wordGap) {
      current = { ideographic, characters: [] };
      words.push(current);
    }
    current.characters.push(character);
  }
  return words;
}

/** Chinese characters, their punctuation, and forms of full width. */
function isIdeographic(text: string): boolean {
  return /[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]/u.test(text);
}

interface Span {
  readonly characters: readonly RecognizedCharacter[];
  readonly left: number;
  readonly right: number;
}

/** Where spans overlap, both give half of it. */
function separate(spans: readonly Span[]): readonly Span[] {
  const separated = [...spans];
  for (let index = 1; index < separated.length; index++) {
    const [before, span] = [separated[index - 1], separated[index]];
    if (before === undefined || span === undefined || before.right <= span.left) continue;
    const middle = (before.right + span.left) / 2;
    separated[index - 1] = { ...before, right: middle };
    separated[index] = { ...span, left: middle };
  }
  return separated;
}

/** Maps a span of columns of the line, over its whole height, to corners on the page in whole pixels. */
function linePlacement({ box, width, height, turned, upsideDown }: LineLayout): (left: number, right: number) => Quadrilateral {
  const [pageLeft, pageTop] = [Math.trunc(Math.min(...box.map(([x]) => x))), Math.trunc(Math.min(...box.map(([, y]) => y)))];
  const relative = ([x, y]: PixelPoint): PixelPoint => [Math.fround(x - pageLeft), Math.fround(y - pageTop)];
  const corners: Quadrilateral = [relative(box[0]), relative(box[1]), relative(box[2]), relative(box[3])];
  const [upperLeft, upperRight, , lowerLeft] = corners;
  const [boxWidth, boxHeight] = [Math.trunc(distance32(upperLeft, upperRight)), Math.trunc(distance32(upperLeft, lowerLeft))];
  const matrix = perspectiveTransform(corners, [[0, 0], [boxWidth, 0], [boxWidth, boxHeight], [0, boxHeight]]); // prettier-ignore
  const inverse = (matrix && invertTransform(matrix)) ?? Float64Array.of(1, 0, upperLeft[0], 0, 1, upperLeft[1], 0, 0, 1);
  const place = (x: number, y: number): PixelPoint => {
    const [column, row] = upsideDown ? [width - x, height - y] : [x, y];
    const [boxX, boxY] = transformPoint(inverse, turned ? [boxWidth - row, column] : [column, row]);
    return [Math.trunc(boxX + pageLeft), Math.trunc(boxY + pageTop)];
  };
  return (left, right) => clockwise([place(left, 0), place(right, 0), place(right, height), place(left, height)]);
}

/** The same corners beginning with the upper left one. */
function clockwise(corners: readonly PixelPoint[]): Quadrilateral {
  let start = 0;
  corners.forEach(([x, y], index) => {
    const [startX, startY] = corners[start] ?? [0, 0];
    if (x + y < startX + startY) start = index;
  });
  const corner = (index: number): PixelPoint => corners[(start + index) % 4] ?? [0, 0];
  return [corner(0), corner(1), corner(2), corner(3)];
}
