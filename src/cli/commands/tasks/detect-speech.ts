import type { Command } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import { voiceActivityOptions } from "../../../tasks/speech/voice-activity/voice-activity-options.ts";
import { readSoundFile } from "../../input/sound-file.ts";
import { addOptionFlags, optionsFromFlags } from "../../option-flags.ts";
import { formatMilliseconds, plural } from "../../output/units.ts";
import { addLoadFlags, withNotice, withSession } from "../../session.ts";
import { configured, printResult, type TaskFlags } from "../../task-command.ts";
import type { Terminal } from "../../terminal.ts";

/** Defines the command `detect-speech`: a line for each segment of speech, with its start and its end in seconds. */
export function defineDetectSpeech(command: Command, terminal: Terminal): void {
  command
    .argument("<file>", "sound file; - is stdin")
    .option("--model <reference>", "Silero's network for voice activity: a path of silero_vad.onnx, or a name in the store");
  addLoadFlags(addOptionFlags(command, voiceActivityOptions)).action(async (file: string, flags: TaskFlags) => {
    await withSession(terminal, flags, flags.model, async (session) => {
      const sound = await readSoundFile(file, terminal);
      const { variant } = configured(session);
      const options = { ...optionsFromFlags(voiceActivityOptions, flags), ...omitUndefined({ variant }) };
      const running = session.runtime.detectSpeech(sound, { ...options, model: session.model, signal: terminal.signal });
      const result = await withNotice(terminal, session.notice(`loading and running ${session.model}`), running);
      const { model, target, decision, milliseconds, duration, segments } = result;
      const spoken = segments.reduce((sum, { start, end }) => sum + end - start, 0);
      const counts = `${plural(segments.length, "segment")}, ${spoken.toFixed(1)} of ${duration.toFixed(1)} s of speech`;
      await printResult(flags, terminal, {
        json: () => JSON.stringify({ model, target, duration, segments, decision }),
        text: () => segments.map(({ start, end }) => `${start.toFixed(3)} ${end.toFixed(3)}`).join("\n"),
        summary: `${model} · ${target} · ${counts} in ${formatMilliseconds(milliseconds)}`,
      });
    });
  });
}
