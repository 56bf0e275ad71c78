import type { Command } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import { classifySoundOptions } from "../../../tasks/speech/classification/classify-sound-options.ts";
import { readSoundFile } from "../../input/sound-file.ts";
import { addOptionFlags, optionsFromFlags } from "../../option-flags.ts";
import { formatTable, printable } from "../../output/table.ts";
import { formatMilliseconds, plural, withShortFloats } from "../../output/units.ts";
import { addLoadFlags, withNotice, withSession } from "../../session.ts";
import { configured, printResult, type TaskFlags } from "../../task-command.ts";
import type { Terminal } from "../../terminal.ts";

/** Labels that are shown per sound, unless --top-k says otherwise. */
const shownLabels = 3;
const widestName = 60;

/** Defines the command `classify-sound`. */
export function defineClassifySound(command: Command, terminal: Terminal): void {
  command
    .argument("<files...>", "sound files; - is stdin")
    .option("--model <reference>", "model that labels sound: a path, hf:owner/name, or a name in the store");
  addLoadFlags(addOptionFlags(command, classifySoundOptions)).action(async (files: string[], flags: TaskFlags) => {
    const options = optionsFromFlags(classifySoundOptions, flags);
    await withSession(terminal, flags, flags.model, async (session) => {
      const sounds = await Promise.all(files.map((file) => readSoundFile(file, terminal)));
      const { variant } = configured(session);
      const request = { ...options, ...omitUndefined({ variant }), model: session.model, signal: terminal.signal };
      const running = session.runtime.classifySound(sounds, request);
      const result = await withNotice(terminal, session.notice(`loading and running ${session.model}`), running);
      const { model, target, decision, milliseconds, results } = result;
      const rows = files.map((file, index) => [
        printable(file, widestName),
        (results[index] ?? [])
          .slice(0, options.topK ?? shownLabels)
          .map(({ label, score }) => `${label} ${score.toFixed(4)}`)
          .join("  "),
      ]);
      await printResult(flags, terminal, {
        json: () => JSON.stringify({ model, target, results: withShortFloats(results), decision }),
        text: () => `${model} · ${target}\n${formatTable(rows)}`,
        summary: `${plural(files.length, "sound")} in ${formatMilliseconds(milliseconds)}`,
      });
    });
  });
}
