/** A cross-validation for people. */
import type {
  CrossValidation,
  LanguageCrossValidation,
  ComparedLanguageRun,
  ComparedRun,
  TokensPerSecond,
  VectorCrossValidation,
  WorstValue,
} from "../../cross-validation/index.ts";
import { colorize } from "../output/style.ts";
import { formatTable, printable } from "../output/table.ts";
import { plural } from "../output/units.ts";
import type { Terminal } from "../terminal.ts";

/** A comparison as lines: what was compared, the worst of each measure with its position, the first divergence, texts and speed. */
export function formatCrossValidation(result: CrossValidation, terminal: Terminal): string {
  const { tested, reference } = result;
  const runs = formatTable([
    ["tested", ...runCells(tested)],
    ["reference", ...runCells(reference)],
  ]);
  const lines = result.kind === "language" ? languageLines(result, terminal) : vectorLines(result);
  return [runs, ...lines, ...(isSameRun(tested, reference) ? [sameRunNote] : [])].join("\n");
}

const sameRunNote =
  "both runs used the same engine: this shows whether it repeats its results, not whether they are right; choose another with --target or --against";

/** Whether the same code computed the same weights twice. */
function isSameRun(tested: ComparedRun, reference: ComparedRun): boolean {
  return (
    reference.recording === undefined &&
    tested.digest === reference.digest &&
    tested.variant === reference.variant &&
    tested.target === reference.target &&
    tested.libraryPath === reference.libraryPath
  );
}

/** One line on a recording that was written. */
export function formatRecorded(facts: ComparedLanguageRun, path: string): string {
  return `${formatTable([["recorded", ...runCells(facts), `in ${path}`]])}\n${formatTable([
    ["text", quote(facts.text)],
    ["tokens/s", rates(facts.speed)],
  ])}`;
}

function languageLines(result: LanguageCrossValidation, terminal: Terminal): string[] {
  const { summary, positions, promptTokens, tested, reference } = result;
  const { maxError, rmsError, cosine, klDivergence, agreeing, firstDivergence, speedRatio } = summary;
  const place = ({ position }: WorstValue): string => `at position ${position}`;
  const all = agreeing === positions.length;
  const rows = [
    ["tokens", `${promptTokens} of the prompt, ${positions.length - promptTokens} behind it`],
    ["max error", `${maxError.value.toPrecision(3)} ${place(maxError)}`],
    ["RMS error", `${rmsError.value.toPrecision(3)} ${place(rmsError)}`],
    ["cosine", `${cosine.worst.value.toFixed(8)} ${place(cosine.worst)}, mean ${cosine.mean.toFixed(8)}`],
    [
      "KL divergence",
      `${klDivergence.worst.value.toPrecision(3)} nats ${place(klDivergence.worst)}, mean ${klDivergence.mean.toPrecision(3)}`,
    ],
    ["same token", colorize(terminal, all ? "good" : "bad", `${agreeing} of ${plural(positions.length, "position")}`)],
  ];
  if (firstDivergence !== null) {
    const { position, referenceText, testedText, reference: theirs, tested: ours } = firstDivergence;
    const token = (id: number, text: string | undefined): string => `${id}${text === undefined ? "" : ` ${quote(text)}`}`;
    rows.push(
      ["first divergence", `at position ${position}`],
      [
        "",
        `${tested.target}: ${token(ours.token, testedText)}, logit ${ours.logit.toFixed(4)}, margin ${ours.margin.toPrecision(3)}`,
      ],
      [
        "",
        `${reference.target}: ${token(theirs.token, referenceText)}, logit ${theirs.logit.toFixed(4)}, margin ${theirs.margin.toPrecision(3)}`,
      ],
    );
  }
  if (tested.text !== null && tested.text === reference.text) rows.push(["text of both", quote(tested.text)]);
  else if (tested.text !== null)
    rows.push(["text", `${tested.target}: ${quote(tested.text)}`], ["", `${reference.target}: ${quote(reference.text)}`]);
  rows.push(
    ["tokens/s", `${tested.target}: ${rates(tested.speed)}`],
    ["", `${reference.target}: ${rates(reference.speed)}${reference.recording === undefined ? "" : " (when recorded)"}`],
    ["ratio", `prefill ${ratio(speedRatio.prefill)}, decode ${ratio(speedRatio.decode)}`],
  );
  return [formatTable(rows)];
}

function vectorLines({ summary, texts }: VectorCrossValidation): string[] {
  const { maxError, cosine, speedRatio } = summary;
  const rows = [
    ["texts", String(texts.length)],
    ["max error", `${maxError.value.toPrecision(3)} at text ${maxError.position}`],
    ["cosine", `${cosine.worst.value.toFixed(8)} at text ${cosine.worst.position}, mean ${cosine.mean.toFixed(8)}`],
    ["texts/s", `ratio ${ratio(speedRatio)}`],
  ];
  return [formatTable(rows)];
}

function runCells({ model, variant, target, library, recording }: ComparedRun): string[] {
  const name = variant === undefined ? model : `${model} (${variant})`;
  const source = recording === undefined ? "" : `, from ${recording}`;
  return [name, target, `${library.name} ${library.version}${source}`];
}

function rates({ prefill, decode }: TokensPerSecond): string {
  const rate = (value: number | null): string => (value === null ? "not measured" : value.toFixed(value < 10 ? 2 : 0));
  return `prefill ${rate(prefill)}, decode ${rate(decode)}`;
}

function ratio(value: number | null): string {
  return value === null ? "not measured" : value.toFixed(2);
}

function quote(text: string | null): string {
  return text === null ? "none" : JSON.stringify(printable(text, 200));
}
