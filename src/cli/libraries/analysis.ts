/** Output of `analyze-library`. Names from the file are made safe to print. */
import { type ContractCoverage, type LibraryAnalysis, acceleratorTitles } from "../../libraries/analysis/index.ts";
import { formatTable, printable } from "../output/table.ts";
import { formatBytes } from "../output/units.ts";

const formatTitles: Readonly<Record<LibraryAnalysis["file"]["format"], string>> = {
  elf: "ELF",
  "mach-o": "Mach-O",
  pe: "PE",
  coff: "COFF",
  archive: "static",
};

/** Libraries of one kind that the row "needs" lists. */
const shownLibraries = 12;

/** The analysis in about ten lines; `path` as the user wrote it. */
export function formatAnalysis(analysis: LibraryAnalysis): string {
  const rows = [
    ...labelled("class", classLines(analysis)),
    ...labelled("verdict", verdictLines(analysis)),
    ...labelled("symbols", symbolLines(analysis)),
    ...labelled("kernels", kernelLines(analysis)),
    ...labelled("needs", needLines(analysis)),
    ...labelled("fits", fitLines(analysis)),
  ];
  return [headline(analysis), formatTable(rows)].join("\n");
}

/** Rows with the label before the first. */
function labelled(label: string, lines: readonly string[]): string[][] {
  return lines.map((line, index) => [index === 0 ? label : "", line]);
}

function headline({ path, file }: LibraryAnalysis): string {
  const { format, kind, architecture, name, buildId, bytes, members, slices } = file;
  const others = slices.filter((slice) => slice.architecture !== architecture).map((slice) => slice.architecture);
  return [
    path,
    `${formatTitles[format]} ${architecture} ${kind}`,
    ...(others.length === 0 ? [] : [`also for ${others.join(", ")}`]),
    ...(members === undefined ? [] : [`${members.objects} objects`]),
    ...(name === undefined ? [] : [`${format === "elf" ? "soname" : "name"} ${printable(name, 80)}`]),
    ...(buildId === undefined ? [] : [`build id ${buildId.slice(0, 8)}${buildId.length > 8 ? "…" : ""}`]),
    formatBytes(bytes),
    "read only, not loaded",
  ].join("   ");
}

function classLines({ classes }: LibraryAnalysis): string[] {
  if (classes.length === 0) return ["none of the libraries that are recognized"];
  return classes.map(({ title, variant, confidence, evidence }) => {
    const name = variant === undefined ? title : `${title}, build ${printable(variant, 40)}`;
    return `${name} (${confidence}: ${evidence.map((sentence) => printable(sentence, 200)).join("; ")})`;
  });
}

function verdictLines({ verdict }: LibraryAnalysis): string[] {
  const { accelerators, reasons, notes } = verdict;
  const titles = accelerators.map((name) => acceleratorTitles.get(name) ?? name);
  const summary = titles.length === 0 ? "CPU-only" : titles.join(", ");
  const [first = "", ...others] = [...reasons, ...notes].map((sentence) => printable(sentence, 240));
  return [`${summary}: ${first}`, ...others];
}

function symbolLines({ symbols, symbolCounts }: LibraryAnalysis): string[] {
  const groups = Object.entries(symbols).map(([name, { exported, imported }]) => {
    const count = exported.length.toLocaleString("en-US");
    return imported.length === 0
      ? `${name} ${count}`
      : `${name} ${count} (and ${imported.length.toLocaleString("en-US")} imported)`;
  });
  const { exported, imported } = symbolCounts;
  const all = `${exported.toLocaleString("en-US")} exported, ${imported.toLocaleString("en-US")} imported`;
  return [`${groups.join("   ")}   of ${all}        --symbols lists them`];
}

/** Number of kernel ids per line in the row "kernels". */
const kernelsOfLine = 6;

function kernelLines({ kernels }: LibraryAnalysis): string[] {
  const ids = kernels.map(({ id }) => id);
  return Array.from({ length: Math.ceil(ids.length / kernelsOfLine) }, (_line, index) =>
    ids.slice(index * kernelsOfLine, (index + 1) * kernelsOfLine).join(", "),
  );
}

function needLines({ needs, versionSummaries }: LibraryAnalysis): string[] {
  const lines = [
    ["missing", needs.filter(({ status }) => status === "missing")],
    ["found", needs.filter(({ status }) => status === "found")],
    ["not looked for", needs.filter(({ status }) => status === "not checked")],
  ] as const;
  const libraries = lines.flatMap(([title, list]) => {
    if (list.length === 0) return [];
    const names = list
      .slice(0, shownLibraries)
      .map(({ name, foundBy }) => `${printable(name, 60)}${foundBy === "beside the file" ? " (beside it)" : ""}`);
    const more = list.length > shownLibraries ? ` and ${list.length - shownLibraries} more` : "";
    return [`${title}: ${names.join(", ")}${more}`];
  });
  const versions = versionSummaries.map(({ required, here, isProvided }) => {
    const missing = isProvided === false ? ", missing" : "";
    return `${printable(required, 40)} (${here === undefined ? "here unknown" : `here ${here}`}${missing})`;
  });
  const all = [...libraries, ...(versions.length === 0 ? [] : [versions.join("   ")])];
  return all.length === 0 ? ["no library"] : all;
}

function fitLines({ path, fit, needs, contract }: LibraryAnalysis): string[] {
  if (!fit.fits)
    return fit.problems.map((problem, index) => (index === 0 ? `no: ${printable(problem, 200)}` : printable(problem, 200)));
  const checked = needs.some(({ status }) => status === "not checked")
    ? "architecture and system; its needs were not looked for"
    : "architecture, C library, needed libraries and their versions";
  return [`this machine, by ${checked}`, ...(contract === undefined ? [] : [contractLine(contract, path)])];
}

/** Functions that the library does not export may be exported by a library that it needs. */
function contractLine({ name, required, exported }: ContractCoverage, path: string): string {
  const functions = exported === 0 ? "" : `${exported} of ${required} functions; `;
  return `contract ${name}: ${functions}ABI not proved yet: inferyard libraries verify ${path}`;
}
