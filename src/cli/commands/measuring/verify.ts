import { readGivenText } from "../../input/given-file.ts";
import { type Command, Option } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import type { ModelReport, VerifyFigures } from "../../../measuring/index.ts";
import type { ManifestKnownAnswer } from "../../../models/manifest.ts";
import { positiveNumber } from "../../option-flags.ts";
import { addLoadFlags, withNotice, withSession } from "../../session.ts";
import { colorize } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { formatMilliseconds } from "../../output/units.ts";

/** Defines the command `verify`. */
export function defineVerify(command: Command, terminal: Terminal): void {
  command
    .argument("[model]", "model reference")
    .option("--answers <file>", "known answers: JSON with items of text and embedding (see docs/guide/verifying.md)")
    .addOption(
      new Option("--tolerance <number>", "maximum difference of a component from its known answer").argParser(positiveNumber),
    );
  addLoadFlags(command).action(async (model: string | undefined, flags: Record<string, unknown>) => {
    await withSession(terminal, flags, model, async (session) => {
      const { runtime, settings } = session;
      const { signal } = terminal;
      const answers = await knownAnswers(flags);
      // Imported on demand, since it imports all tasks, which --help does not need.
      const [{ verifyModel }, { skippedRows, throwUnmet }] = await Promise.all([
        import("../../../measuring/index.ts"),
        import("../../measuring/target-reports.ts"),
      ]);
      let tested = "";
      const onTarget = (target: string): void => void (tested = ` on ${target}`);
      const { variant, target } = settings;
      const given = omitUndefined({ variant, target });
      const verifying = verifyModel(runtime, { model: session.model, answers, onTarget, signal, ...given });
      const notice = (elapsed: string): string => session.notice(`testing ${session.model}${tested}`)(elapsed);
      const report = await withNotice(terminal, notice, verifying);
      writeLine(
        terminal.stdout,
        flags["json"] === true ? JSON.stringify(report) : formatReport(report, skippedRows(report.targets), terminal),
      );
      throwUnmet(report, target, "VERIFICATION_FAILED", "failed its verification");
    });
  });
}

async function knownAnswers(flags: Record<string, unknown>): Promise<readonly ManifestKnownAnswer[]> {
  const { answers: path, tolerance } = flags as { answers?: string; tolerance?: number };
  if (path === undefined) return [];
  const text = await readGivenText(path);
  const { readAnswers } = await import("../../../tasks/verification/known-answer-file.ts");
  return readAnswers(text, path, tolerance);
}

function formatReport({ targets }: ModelReport<VerifyFigures>, skipped: readonly string[][], terminal: Terminal): string {
  const words = { pass: colorize(terminal, "good", "PASS"), fail: colorize(terminal, "bad", "FAIL"), skipped: "----" };
  const rows = targets.flatMap(({ target, verdict, reason = "", figures }) => {
    if (figures === undefined) return verdict === "skipped" ? [] : [[target, words[verdict], "load", reason]];
    const { checks, evidence, milliseconds } = figures;
    return [
      ...checks.map(({ name, verdict: found, detail }, index) => [
        index === 0 ? target : "",
        words[found],
        name,
        `${detail}${index === 0 ? `  (${formatMilliseconds(milliseconds)} in all)` : ""}`,
      ]),
      ...evidence.map((sentence) => ["", "", "evidence", sentence]),
    ];
  });
  return [formatTable(rows), formatTable(skipped)].filter((table) => table !== "").join("\n");
}
