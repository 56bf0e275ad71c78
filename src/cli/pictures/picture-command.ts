/** The frame of commands that run a task over pictures: settings, pictures, run, output. */
import { resolve } from "node:path";
import { Option } from "commander";
import { omitUndefined } from "../../contract/checked.ts";
import { invalidInput } from "../../contract/errors.ts";
import type { TaskRun } from "../../api/task-requests.ts";
import type { Runtime } from "../../api/runtime.ts";
import type { OptionTable, Options } from "../../runtime/options/option.ts";
import { optionsFromFlags } from "../option-flags.ts";
import { formatMilliseconds, withShortFloats } from "../output/units.ts";
import { withNotice, withSession } from "../session.ts";
import { type TaskFlags, type TaskOutput, printResult } from "../task-command.ts";
import type { Terminal } from "../terminal.ts";

/** Fields of the request of every task on pictures. */
export interface PictureRequest {
  readonly model: string;
  readonly variant?: string;
  readonly signal: AbortSignal;
}

/** What a command does with its pictures. */
export interface PictureWork<Values, Result extends TaskRun> {
  readonly run: (runtime: Runtime, pictures: readonly string[], request: Partial<Values> & PictureRequest) => Promise<Result>;
  /** `names`: the pictures as the user wrote them. */
  readonly show: (result: Result, names: readonly string[]) => TaskOutput;
}

/** The flag for pictures of commands that read texts as well. */
export function imageOption(): Option {
  return new Option("--image <file>", "a picture instead of texts; may be given several times").argParser(
    (file, before?: string[]) => [...(before ?? []), file],
  );
}

/** A picture's path as the runtime takes it; data URLs stay as they are. */
export function picturePath(terminal: Terminal, picture: string): string {
  return picture.startsWith("data:") ? picture : resolve(terminal.directory, picture);
}

/** Throws INPUT_INVALID for a flag of one kind of input that was given with the other. */
export function refuseFlagsOf(flags: object, names: readonly string[], kept: Options, where: string): void {
  const name = names.find((one) => !Object.hasOwn(kept, one) && Object.hasOwn(flags, one));
  if (name === undefined) return;
  const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw invalidInput(`${flag} has no effect ${where}`, `leave ${flag} out`);
}

/** Runs a task over pictures and prints its result. */
export async function runOnPictures<Values, Result extends TaskRun>(
  { terminal, pictures, flags }: { readonly terminal: Terminal; readonly pictures: readonly string[]; readonly flags: TaskFlags },
  table: OptionTable<Values>,
  { run, show }: PictureWork<Values, Result>,
): Promise<void> {
  const options = optionsFromFlags<Values>(table, flags);
  await withSession(terminal, flags, flags.model, async ({ runtime, model, settings, notice }) => {
    const request = { ...options, ...omitUndefined({ variant: settings.variant }), model, signal: terminal.signal };
    const paths = pictures.map((picture) => picturePath(terminal, picture));
    const result = await withNotice(terminal, notice(`loading and running ${model}`), run(runtime, paths, request));
    const { results, extraFields = {}, title, body, summary } = show(result, pictures);
    const headline = [result.model, result.target, title].filter((part) => part !== undefined).join(" · ");
    await printResult(flags, terminal, {
      json: () =>
        JSON.stringify({
          model: result.model,
          target: result.target,
          ...extraFields,
          results: withShortFloats(results),
          decision: result.decision,
        }),
      text: () => [headline, ...(body === "" ? [] : [body])].join("\n"),
      summary: `${summary} in ${formatMilliseconds(result.milliseconds)}`,
    });
  });
}
