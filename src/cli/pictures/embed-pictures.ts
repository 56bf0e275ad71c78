/** `embed --image`: vectors of pictures, and of texts in the same space. */
import { omitUndefined } from "../../contract/checked.ts";
import { embedOptions } from "../../tasks/embedding/embed-options.ts";
import { embedSparseOptions } from "../../tasks/sparse-embedding/embed-sparse-options.ts";
import { embedMediaOptions } from "../../tasks/vision/embed-media-options.ts";
import { optionsFromFlags } from "../option-flags.ts";
import { describeEmbeddings, embeddingsJson, writeMatrix } from "../output/embeddings.ts";
import { formatMilliseconds, plural } from "../output/units.ts";
import { type GlobalFlags, withNotice, withSession } from "../session.ts";
import { type Terminal, writeAll, writeLine } from "../terminal.ts";
import { picturePath, refuseFlagsOf } from "./picture-command.ts";

/** Flags of the command `embed` that matter to pictures. */
export interface EmbedPictureFlags extends GlobalFlags {
  readonly model?: string;
  readonly npy?: string;
  readonly image?: readonly string[];
}

/** Flags of texts that have no effect beside pictures. */
const textFlags = ["input", "jsonl", "sparse", "outputs", ...Object.keys({ ...embedSparseOptions, ...embedOptions })];

/** Throws INPUT_INVALID for flags of texts beside pictures, and the other way around. */
export function checkPictureFlags(flags: EmbedPictureFlags): void {
  if (flags.image === undefined)
    refuseFlagsOf(flags, Object.keys(embedMediaOptions), { ...embedSparseOptions, ...embedOptions }, "without --image");
  else refuseFlagsOf(flags, textFlags, embedMediaOptions, "with --image");
}

/** Embeds pictures, then texts, and prints the vectors in this order. */
export async function embedPictures(
  pictures: readonly string[],
  texts: readonly string[],
  flags: EmbedPictureFlags,
  terminal: Terminal,
): Promise<void> {
  const options = optionsFromFlags(embedMediaOptions, flags);
  await withSession(terminal, flags, flags.model, async ({ runtime, model, settings, notice }) => {
    const request = { ...options, ...omitUndefined({ variant: settings.variant }), model, signal: terminal.signal };
    const inputs = [...pictures.map((picture) => ({ image: picturePath(terminal, picture) })), ...texts];
    const result = await withNotice(terminal, notice(`loading and running ${model}`), runtime.embed(inputs, request));
    if (flags.npy !== undefined) await writeMatrix(flags.npy, result, terminal);
    else if (flags.json === true) await writeAll(terminal.stdout, `${embeddingsJson(result)}\n`);
    else await writeAll(terminal.stdout, describeEmbeddings(result, [...pictures, ...texts]));
    if (flags.quiet === true || flags.json === true || flags.npy !== undefined) return;
    const counts = [plural(pictures.length, "picture"), ...(texts.length > 0 ? [plural(texts.length, "text")] : [])].join(", ");
    writeLine(terminal.stderr, `${counts} in ${formatMilliseconds(result.milliseconds)} · --json for all numbers`);
  });
}
