import { type Command, Option } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { readSpokenSound, type LiveFlags } from "../../input/sound-file.ts";
import { toSubRip, toWebVttCues, webVttHeader } from "../../../tasks/speech/subtitles.ts";
import { transcribeOptions } from "../../../tasks/speech/transcribe-options.ts";
import type { TranscriptSegment } from "../../../tasks/speech/transcript.ts";
import { addOptionFlags, optionsFromFlags, parsePositiveInteger } from "../../option-flags.ts";
import { formatMilliseconds } from "../../output/units.ts";
import { addLoadFlags, withNotice, withSession } from "../../session.ts";
import { configured, type TaskFlags } from "../../task-command.ts";
import { type Terminal, writeAll, writeLine } from "../../terminal.ts";

const formats = ["text", "srt", "vtt", "json"] as const;

interface TranscribeFlags extends TaskFlags, LiveFlags {
  readonly format: (typeof formats)[number];
  readonly temperature?: string;
}

/** Defines the command `transcribe`. Segments are printed as soon as they are final, but for JSON. */
export function defineTranscribe(command: Command, terminal: Terminal): void {
  const model = "a Whisper: a path, hf:owner/name, or a name in the store";
  command
    .argument("<file>", "sound file; - is stdin")
    .option("--model <reference>", model)
    .option("--temperature <numbers>", "temperature of sampling, or several with commas between that are tried in order");
  command
    .option("--live", "transcribe a WAVE file on stdin while it comes in")
    .addOption(
      new Option("--sample-rate <hz>", "stdin is raw mono 16-bit PCM, transcribed while it comes in").argParser(
        parsePositiveInteger,
      ),
    );
  addLoadFlags(addOptionFlags(command, transcribeOptions))
    .addOption(new Option("--format <name>", "what is printed").choices(formats).default("text"))
    .action(async (file: string, flags: TranscribeFlags) => {
      const { format, json, quiet, temperature } = flags;
      await withSession(terminal, flags, flags.model, async (session) => {
        const sound = await readSpokenSound(file, terminal, flags);
        const { variant } = configured(session);
        const { vad, conditionOnPreviousText, ...given } = optionsFromFlags(transcribeOptions, flags);
        const options = {
          ...given,
          // true is what a flag has that was not given
          ...(vad === false ? { vad } : {}),
          ...(conditionOnPreviousText === false ? { conditionOnPreviousText } : {}),
          ...(temperature === undefined ? {} : { temperature: readNumbers(temperature) }),
        };
        const request = {
          ...options,
          ...omitUndefined({ variant }),
          model: session.model,
          signal: terminal.signal,
          stream: true,
        } as const;
        const opening = session.runtime.transcribe(sound, request);
        const stream = await withNotice(terminal, session.notice(`loading ${session.model}`), opening);
        const isJson = json === true || format === "json";
        if (!isJson) {
          if (format === "vtt") await writeAll(terminal.stdout, webVttHeader);
          let number = 0;
          for await (const segment of stream) await writeAll(terminal.stdout, formatSegment(segment, format, (number += 1)));
        }
        const { model: reference, target, decision, milliseconds, ...transcript } = await stream.finish();
        if (isJson) {
          const { text, language, languageProbability, duration, segments } = transcript;
          const fields = { text, language, languageProbability, duration, segments, model: reference, target, decision };
          await writeAll(terminal.stdout, `${JSON.stringify(fields)}\n`);
        }
        if (quiet === true) return;
        const speed = `${transcript.duration.toFixed(1)} s of sound in ${formatMilliseconds(milliseconds)}`;
        writeLine(terminal.stderr, `${reference} · ${target} · ${transcript.language} · ${speed}`);
      });
    });
}

function formatSegment(segment: TranscriptSegment, format: TranscribeFlags["format"], number: number): string {
  if (format === "srt") return toSubRip([segment], number);
  return format === "vtt" ? toWebVttCues([segment]) : `${segment.text.trim()}\n`;
}

function readNumbers(text: string): number | readonly number[] {
  const numbers = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  const [first = Number.NaN] = numbers;
  if (numbers.some(Number.isNaN))
    throw new InferyardError("INPUT_INVALID", `--temperature is ${text}, and must be numbers with commas between`);
  return numbers.length === 1 ? first : numbers;
}
