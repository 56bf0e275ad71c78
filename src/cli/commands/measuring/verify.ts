import { readFile } from "node:fs/promises";
import { type Command, Option } from "commander";
import type { Runtime } from "../../../api/runtime.ts";
import { InferyardError, messageOf } from "../../../contract/errors.ts";
import { type SelfTest, selfTest } from "../../../tasks/verification/self-test.ts";
import { addLoadFlags, openSession, positiveNumber, withNotice } from "../../session.ts";
import { colorize } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { formatMilliseconds } from "../../output/units.ts";
import type { KnownAnswer } from "../../../models/manifest.ts";
import { runnableTargets } from "./runnable-targets.ts";

/** Defines the command `verify`. */
export function defineVerify(command: Command, terminal: Terminal): void {
  command
    .argument("[model]", "model reference")
    .option("--answers <file>", "known answers: JSON with items of text and embedding (see docs/guide/verifying.md)")
    .addOption(
      new Option("--tolerance <number>", "maximum difference of a component from its known answer").argParser(positiveNumber),
    );
  addLoadFlags(command).action(async (model: string | undefined, flags: Record<string, unknown>) => {
    const session = await openSession(terminal, flags, model);
    const { runtime, settings } = session;
    try {
      const answers = await knownAnswers(flags);
      const targets = await runnableTargets(session, terminal.signal);
      const tests: (TargetTest & { target: string })[] = [];
      for (const target of targets) {
        const testing = testOn(runtime, session.model, target, answers, settings.variant);
        tests.push({ target, ...(await withNotice(terminal, session.notice(`testing ${session.model} on ${target}`), testing)) });
      }
      if (flags["json"] === true) writeLine(terminal.stdout, JSON.stringify({ model: session.model, tests }));
      else writeLine(terminal.stdout, formatTests(tests, terminal));
      const failed = tests.filter(({ passed }) => !passed);
      if (failed.length > 0) {
        throw new InferyardError(
          "VERIFICATION_FAILED",
          `${session.model} failed its self-test on ${failed.map(({ target }) => target).join(", ")}`,
          {
            remedy: "exclude the target: --exclude, or `exclude` in inferyard.yaml",
          },
        );
      }
    } finally {
      await runtime.dispose();
    }
  });
}

/** The self-test of a model on one target. */
interface TargetTest extends SelfTest {
  /** What held when the model was loaded: see `Selected.evidence`. Undefined if it could not be loaded. */
  readonly evidence?: readonly string[];
}

async function testOn(
  runtime: Runtime,
  model: string,
  target: string,
  answers: readonly KnownAnswer[],
  variant?: string,
): Promise<TargetTest> {
  const started = performance.now();
  try {
    const handle = await runtime.load(model, { target, ...(variant === undefined ? {} : { variant }) });
    try {
      const test = await selfTest((texts) => runtime.embed(texts, { model: handle }), handle.manifest, answers);
      return { ...test, evidence: handle.decision.selected?.evidence ?? [] };
    } finally {
      await handle.dispose();
      await runtime.unloadIdle();
    }
  } catch (error) {
    return {
      passed: false,
      checks: [{ name: "load", passed: false, detail: messageOf(error).replaceAll(/\s*\n\s*/g, "; ") }],
      milliseconds: performance.now() - started,
    };
  }
}

async function knownAnswers(flags: Record<string, unknown>): Promise<readonly KnownAnswer[]> {
  const { answers: path, tolerance } = flags as { answers?: string; tolerance?: number };
  if (path === undefined) return [];
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new InferyardError("INPUT_INVALID", `${path} cannot be read: ${messageOf(error)}`, { cause: error });
  });
  const { readAnswers } = await import("../../../tasks/verification/known-answer-file.ts");
  return readAnswers(text, path, tolerance);
}

function formatTests(tests: readonly (TargetTest & { target: string })[], terminal: Terminal): string {
  const rows = tests.flatMap(({ target, checks, milliseconds, evidence = [] }) => [
    ...checks.map(({ name, passed, skipped, detail }, index) => [
      index === 0 ? target : "",
      skipped === true ? "----" : passed ? colorize(terminal, "good", "PASS") : colorize(terminal, "bad", "FAIL"),
      name,
      `${detail}${index === 0 ? `  (${formatMilliseconds(milliseconds)} in all)` : ""}`,
    ]),
    ...evidence.map((sentence) => ["", "", "evidence", sentence]),
  ]);
  return formatTable(rows);
}
