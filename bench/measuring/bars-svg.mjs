// Horizontal bars as an SVG picture, for light and dark pages: what `--svg FILE` of the benchmarks writes.
import { writeFileSync } from "node:fs";

const [width, labelWidth, noteWidth, rowHeight, barHeight, top, margin] = [920, 260, 250, 24, 14, 74, 20];

/**
 * Writes the picture. `bars`: label, value and note of each, from top to bottom; one with `isTotal` stands out; one with `group` begins a group with that title. `reference`: a value that the bars are
 * compared with, and its label. `format` makes the text of a value. Default: two digits after the point.
 */
export function writeBars(path, { title, subtitle, bars, reference, format = (value) => value.toFixed(2) }) {
  const scale =
    (width - labelWidth - noteWidth - 2 * margin) / Math.max(...bars.map(({ value }) => value), reference?.value ?? 0);
  const start = margin + labelWidth;
  let y = top;
  const parts = [];
  const text = (x, at, kind, content, anchor = "start") =>
    parts.push(
      `<text x="${x.toFixed(1)}" y="${at.toFixed(1)}" class="${kind}" text-anchor="${anchor}">${escape(content)}</text>`,
    );
  for (const { label, value, note = "", isTotal = false, group } of bars) {
    if (group !== undefined) {
      text(margin, y + rowHeight - 7, "group", group);
      y += rowHeight;
    }
    const length = Math.max(1, value * scale);
    const isWorse =
      reference?.isMoreBetter === undefined ? false : reference.isMoreBetter ? value < reference.value : value > reference.value;
    const kind = isTotal ? "total" : isWorse ? "worse" : "bar";
    text(start - 8, y + 12, isTotal ? "strong" : "label", label, "end");
    parts.push(`<rect x="${start}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" rx="2" class="${kind}"/>`);
    text(start + length + 6, y + 12, "value", `${format(value)}${note === "" ? "" : `   ${note}`}`);
    y += rowHeight;
  }
  const height = y + (reference === undefined ? margin : margin + 14);
  if (reference !== undefined) {
    const x = start + reference.value * scale;
    parts.push(`<line x1="${x.toFixed(1)}" y1="${top - 6}" x2="${x.toFixed(1)}" y2="${y}" class="reference"/>`);
    text(x, y + 12, "note", reference.label, "middle");
  }
  writeFileSync(
    path,
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(title)}">
<style>
  svg { background: #ffffff; font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; }
  text { fill: #24292f; }
  .title { font-size: 16px; font-weight: 600; }
  .note, .value { fill: #57606a; font-size: 12px; }
  .strong, .group { font-weight: 600; }
  .bar { fill: #2f81c7; }
  .worse { fill: #c9843a; }
  .total { fill: #1f5f96; }
  .reference { stroke: #57606a; stroke-dasharray: 4 3; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; }
    text { fill: #e6edf3; }
    .note, .value { fill: #9aa4af; }
    .bar { fill: #58a6ff; }
    .worse { fill: #e3a857; }
    .total { fill: #9cccff; }
    .reference { stroke: #9aa4af; }
  }
</style>
<text x="${margin}" y="28" class="title">${escape(title)}</text>
<text x="${margin}" y="50" class="note">${escape(subtitle)}</text>
${parts.join("\n")}
</svg>
`,
  );
}

function escape(text) {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
