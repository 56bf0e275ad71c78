/** hOCR 1.2: pages with their lines and words as HTML, which programs that make searchable PDF files read. */
import type { Quadrilateral } from "../../processors/images/geometry/points.ts";
import type { ReadLine, ReadPage } from "./read-page.ts";

/** A page with the name of the picture it was read from. */
export interface NamedPage extends ReadPage {
  readonly name: string;
}

/** An hOCR document of pages. `system`: the program and model that read them. */
export function formatHocr(pages: readonly NamedPage[], system: string): string {
  const hasWords = pages.some(({ lines }) => lines.some(({ words }) => words !== undefined));
  return [
    "<!DOCTYPE html>",
    '<html lang="und">',
    "<head>",
    '<meta charset="utf-8">',
    "<title></title>",
    `<meta name="ocr-system" content="${escape(system)}">`,
    `<meta name="ocr-capabilities" content="ocr_page ocr_line${hasWords ? " ocrx_word" : ""}">`,
    "</head>",
    "<body>",
    ...pages.flatMap((page, index) => formatPage(page, index + 1)),
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

function formatPage({ name, width, height, lines }: NamedPage, number: number): string[] {
  const image = name.replaceAll(/["\\]/g, "\\$&");
  return [
    `<div class="ocr_page" id="page_${number}" title="${escape(`image "${image}"; bbox 0 0 ${width} ${height}; ppageno ${number - 1}`)}">`,
    ...lines.map((line, index) => formatLine(line, `${number}_${index + 1}`)),
    "</div>",
  ];
}

function formatLine({ text, score, box, words }: ReadLine, id: string): string {
  const title = `${boundingBox(box)}; x_wconf ${confidence(score)}`;
  const content =
    words
      ?.map(
        (word, index) =>
          `<span class="ocrx_word" id="word_${id}_${index + 1}" title="${boundingBox(word.box)}; x_wconf ${confidence(word.score)}">${escape(word.text)}</span>`,
      )
      .join(" ") ?? escape(text);
  return `<span class="ocr_line" id="line_${id}" title="${title}">${content}</span>`;
}

/** The upright rectangle around a box, in whole pixels. */
function boundingBox(box: Quadrilateral): string {
  const [xs, ys] = [box.map(([x]) => x), box.map(([, y]) => y)];
  const [left, top, right, bottom] = [
    Math.floor(Math.min(...xs)),
    Math.floor(Math.min(...ys)),
    Math.ceil(Math.max(...xs)),
    Math.ceil(Math.max(...ys)),
  ];
  return `bbox ${left} ${top} ${right} ${bottom}`;
}

/** hOCR has confidences in percent. */
function confidence(score: number): number {
  return Math.round(100 * score);
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escape(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? character);
}
