import type { Command } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import type { EmbedRequest, QuantizedEmbedRequest } from "../../../api/task-requests.ts";
import { invalidInput } from "../../../contract/errors.ts";
import { embedOptions, isQuantized } from "../../../tasks/embedding/embed-options.ts";
import { embedSparseOptions } from "../../../tasks/sparse-embedding/embed-sparse-options.ts";
import { optionsFromFlags } from "../../option-flags.ts";
import {
  type EmbeddingResult,
  describeEmbeddings,
  embeddingLine,
  embeddingsJson,
  noteWindows,
  writeMatrix,
} from "../../output/embeddings.ts";
import { checkWritable } from "../../tensors/write-npy.ts";
import { embedMediaOptions } from "../../../tasks/vision/embed-media-options.ts";
import { checkPictureFlags, embedPictures } from "../../pictures/embed-pictures.ts";
import { imageOption } from "../../pictures/picture-command.ts";
import { embedInForms } from "../../output/embedding-outputs.ts";
import { embedSparsely } from "../../output/sparse-embeddings.ts";
import { type CommandSession, withNotice, withSession } from "../../session.ts";
import { type Terminal, writeAll, writeLine } from "../../terminal.ts";
import { addTaskFlags, configured, noteTruncated } from "../../task-command.ts";
import { readTexts } from "../../input/texts.ts";
import { formatMilliseconds, plural } from "../../output/units.ts";

interface EmbedFlags {
  readonly model?: string;
  readonly input?: string;
  readonly json?: boolean;
  readonly jsonl?: boolean;
  readonly npy?: string;
  readonly quiet?: boolean;
  readonly sparse?: boolean;
  readonly outputs?: string;
  readonly image?: readonly string[];
}

const { topK, threshold } = embedSparseOptions;

/** Defines the command `embed`. */
export function defineEmbed(command: Command, terminal: Terminal): void {
  command
    .argument("[texts...]", "texts; or --input, or lines on stdin")
    .option("--model <reference>", 'model: "builtin", a path, hf:owner/name, or a name in the store')
    .option("--jsonl", "print one JSON object per text, as the texts are done")
    .option("--npy <file>", "write the vectors as a NumPy matrix")
    .option("--sparse", "weights of vocabulary tokens instead of a vector (SPLADE)")
    .option("--outputs <forms>", "dense, sparse and multi-vector embeddings from one run: --outputs dense,sparse")
    .addOption(imageOption());
  addTaskFlags(command, { ...embedMediaOptions, topK, threshold, ...embedOptions }).action(
    async (texts: string[], flags: EmbedFlags) => {
      refuseTwoFormats(flags);
      refuseMixed(flags);
      checkPictureFlags(flags);
      if (flags.npy !== undefined) await checkWritable(flags.npy);
      if (flags.image !== undefined) return embedPictures(flags.image, texts, flags, terminal);
      await withSession(terminal, flags, flags.model, async (session) => {
        const all = await readTexts({ texts, ...omitUndefined({ input: flags.input }) }, terminal);
        if (flags.outputs !== undefined) await embedInForms(all, { ...flags, outputs: flags.outputs }, session, terminal);
        else if (flags.sparse === true) await embedSparsely(all, flags, session, terminal);
        else if (flags.jsonl === true) await embedInParts(all, flags, session, terminal);
        else await embedAtOnce(all, flags, session, terminal);
      });
    },
  );
}

function refuseTwoFormats({ json, jsonl, npy }: EmbedFlags): void {
  const asked = [json === true && "--json", jsonl === true && "--jsonl", npy !== undefined && "--npy"].filter(
    (flag) => flag !== false,
  );
  if (asked.length > 1) throw invalidInput(`${asked.join(" and ")} exclude each other`, "choose one form of output");
}

/** Throws INPUT_INVALID for a flag that applies only to dense embeddings with --sparse, or only to sparse ones without it. */
function refuseMixed(flags: EmbedFlags): void {
  if (flags.outputs !== undefined) return refuseBesideOutputs(flags);
  const [own, others] = flags.sparse === true ? [embedSparseOptions, embedOptions] : [embedOptions, embedSparseOptions];
  const refused = [...(flags.sparse === true ? ["jsonl", "npy"] : []), ...Object.keys(others)];
  const name = refused.find((one) => !Object.hasOwn(own, one) && Object.hasOwn(flags, one));
  if (name === undefined) return;
  const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const where = flags.sparse === true ? "with" : "without";
  throw invalidInput(`${flag} has no effect ${where} --sparse`, `leave ${flag} out`);
}

/** Throws INPUT_INVALID for a flag that has no effect with --outputs. The library refuses options of dense vectors. */
function refuseBesideOutputs(flags: EmbedFlags): void {
  const name = ["sparse", "jsonl", "npy", "topK", "threshold"].find((one) => Object.hasOwn(flags, one));
  if (name === undefined) return;
  const flag = name === "topK" ? "--top-k" : `--${name}`;
  throw invalidInput(`${flag} has no effect with --outputs`, `leave ${flag} out`);
}

type Request = EmbedRequest | QuantizedEmbedRequest;

function toRequest(flags: EmbedFlags, session: CommandSession, terminal: Terminal): Request {
  const options: Partial<QuantizedEmbedRequest> = optionsFromFlags(embedOptions, flags);
  const { precision, ...others } = { ...options, ...configured(session), model: session.model, signal: terminal.signal };
  return precision === undefined ? others : { ...others, precision };
}

/** Whichever of the two calls the request is for. */
function embed({ runtime }: CommandSession, texts: readonly string[], request: Request): Promise<EmbeddingResult> {
  return isQuantized(request) ? runtime.embed(texts, request) : runtime.embed(texts, request);
}

async function embedAtOnce(
  texts: readonly string[],
  flags: EmbedFlags,
  session: CommandSession,
  terminal: Terminal,
): Promise<void> {
  const embedding = embed(session, texts, toRequest(flags, session, terminal));
  const result = await withNotice(terminal, session.notice(`loading and running ${session.model}`), embedding);
  if (flags.npy !== undefined) {
    await writeMatrix(flags.npy, result, terminal);
  } else if (flags.json === true) {
    await writeAll(terminal.stdout, `${embeddingsJson(result)}\n`);
  } else {
    await writeAll(terminal.stdout, describeEmbeddings(result, texts));
  }
  if (flags.quiet === true) return;
  noteTruncated(result.truncated, 0, terminal);
  noteWindows(result, terminal);
  const plain = flags.json !== true && flags.npy === undefined;
  if (plain)
    writeLine(
      terminal.stderr,
      `${plural(texts.length, "text")} in ${formatMilliseconds(result.milliseconds)} · --json for all numbers`,
    );
}

/** Texts per part of --jsonl: enough to sort by length, few enough that results come as they are made. */
const partSize = 1024;

async function embedInParts(
  texts: readonly string[],
  flags: EmbedFlags,
  session: CommandSession,
  terminal: Terminal,
): Promise<void> {
  const { signal: _signal, ...request } = toRequest(flags, session, terminal);
  const { variant, ...options } = request;
  const loading = session.runtime.load(session.model, {
    ...omitUndefined({ variant }),
    signal: terminal.signal,
  });
  const handle = await withNotice(terminal, session.notice(`loading ${session.model}`), loading);
  const { model: _model, ...perCall } = options;
  for (let first = 0; first < texts.length; first += partSize) {
    const part = texts.slice(first, first + partSize);
    const result = await embed(session, part, { ...perCall, signal: terminal.signal, model: handle });
    const lines = part.map((text, index) => embeddingLine(result, text, index, first + index));
    await writeAll(terminal.stdout, `${lines.join("\n")}\n`);
    if (flags.quiet !== true) {
      noteTruncated(result.truncated, first, terminal);
      noteWindows(result, terminal);
    }
  }
}
