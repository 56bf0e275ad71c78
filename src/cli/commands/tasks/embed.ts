import { type Command, Option } from "commander";
import { omitUndefined } from "../../../checked.ts";
import type { EmbedRequest, QuantizedEmbedRequest } from "../../../api/task-requests.ts";
import { InferyardError } from "../../../errors.ts";
import type { Pooling } from "../../../models/manifest.ts";
import { poolings, truncations } from "../../../tasks/embedding/embed-options.ts";
import { type QuantizedPrecision, precisions } from "../../../tasks/embedding/quantize.ts";
import {
  type EmbeddingResult,
  describeEmbeddings,
  embeddingLine,
  embeddingsJson,
  noteWindows,
  writeMatrix,
} from "../../output/embeddings.ts";
import { checkWritable } from "../../tensors/write-npy.ts";
import { embedSparsely } from "../../output/sparse-embeddings.ts";
import { type Session, addLoadFlags, openSession, positiveInteger, withNotice, zeroOrMore } from "../../session.ts";
import { type Terminal, writeAll, writeLine } from "../../terminal.ts";
import { addLimitFlags, inputOption, noteTruncated } from "../../task-command.ts";
import { readTexts } from "../../input/texts.ts";
import { formatMilliseconds, plural } from "../../output/units.ts";

interface EmbedFlags {
  readonly model?: string;
  readonly input?: string;
  readonly json?: boolean;
  readonly jsonl?: boolean;
  readonly npy?: string;
  readonly quiet?: boolean;
  readonly pooling?: Pooling;
  readonly normalize?: boolean;
  readonly prompt?: string;
  readonly dimensions?: number;
  readonly maxTokens?: number;
  readonly truncate?: "cut" | "error" | "windows";
  readonly stride?: number;
  readonly precision?: "float32" | QuantizedPrecision;
  readonly sparse?: boolean;
  readonly topK?: number;
  readonly threshold?: number;
  readonly batchTokens?: number;
}

/** Adds the command `embed`. */
export function addEmbed(program: Command, terminal: Terminal): void {
  const command = program
    .command("embed")
    .description("embeddings of texts")
    .argument("[texts...]", "texts; or --input, or lines on stdin")
    .option("--model <reference>", 'model: "builtin", a path, hf:owner/name, or a name in the store')
    .addOption(inputOption())
    .option("--jsonl", "print one JSON object per text, as the texts are done")
    .option("--npy <file>", "write the vectors as a NumPy matrix")
    .addOption(
      new Option("--pooling <pooling>", "how token vectors are combined, instead of the model's own pooling").choices(poolings),
    )
    .option("--normalize", "scale vectors to unit length")
    .option("--no-normalize", "do not scale vectors")
    .option("--prompt <name>", "prompt of the model put before every text: query, document, ...")
    .addOption(new Option("--dimensions <number>", "keep only the first dimensions").argParser(positiveInteger))
    .option("--sparse", "weights of vocabulary tokens instead of a vector (SPLADE)")
    .addOption(new Option("--top-k <number>", "with --sparse: only the largest weights").argParser(positiveInteger))
    .addOption(new Option("--threshold <weight>", "with --sparse: only weights above it (default: 0)").argParser(Number))
    .addOption(new Option("--precision <precision>", "number format of the vectors (default: float32)").choices(precisions))
    .addOption(
      new Option("--stride <tokens>", "with --truncate windows: how far they overlap (default: 0)").argParser(zeroOrMore),
    );
  addLoadFlags(addLimitFlags(command, truncations)).action(async (texts: string[], flags: EmbedFlags) => {
    refuseTwoFormats(flags);
    refuseMixed(flags);
    if (flags.npy !== undefined) await checkWritable(flags.npy);
    const session = await openSession(terminal, { ...flags }, flags.model);
    try {
      const all = await readTexts({ texts, ...(flags.input === undefined ? {} : { input: flags.input }) }, terminal);
      if (flags.sparse === true) await embedSparsely(all, flags, session, terminal);
      else if (flags.jsonl === true) await embedInParts(all, flags, session, terminal);
      else await embedAtOnce(all, flags, session, terminal);
    } finally {
      await session.runtime.dispose();
    }
  });
}

function refuseTwoFormats({ json, jsonl, npy }: EmbedFlags): void {
  const asked = [json === true && "--json", jsonl === true && "--jsonl", npy !== undefined && "--npy"].filter(
    (flag) => flag !== false,
  );
  if (asked.length > 1)
    throw new InferyardError("INPUT_INVALID", `${asked.join(" and ")} exclude each other`, {
      remedy: "choose one form of output",
    });
}

/** Flags that apply only to dense, or only to sparse embeddings. */
const denseFlags = ["jsonl", "npy", "pooling", "normalize", "prompt", "dimensions", "precision", "stride"] as const;
const sparseFlags = ["topK", "threshold"] as const;

function refuseMixed(flags: EmbedFlags): void {
  const name = (flags.sparse === true ? denseFlags : sparseFlags).find((flag) => flags[flag] !== undefined);
  if (name === undefined) return;
  const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const where = flags.sparse === true ? "with" : "without";
  throw new InferyardError("INPUT_INVALID", `${flag} has no effect ${where} --sparse`, { remedy: `leave ${flag} out` });
}

type Request = EmbedRequest | QuantizedEmbedRequest;

function requestOf(flags: EmbedFlags, { model, settings }: Session, terminal: Terminal): Request {
  const { pooling, normalize, prompt, dimensions, maxTokens, truncate, stride, precision } = flags;
  const { variant, batchTokens } = settings;
  const request = {
    model,
    variant,
    batchTokens,
    pooling,
    normalize,
    prompt,
    dimensions,
    maxTokens,
    truncate,
    stride,
    precision,
    signal: terminal.signal,
  };
  return omitUndefined(request);
}

/** Whichever of the two calls the request is for. */
function embed({ runtime }: Session, texts: readonly string[], request: Request): Promise<EmbeddingResult> {
  return isQuantized(request) ? runtime.embed(texts, request) : runtime.embed(texts, request);
}

function isQuantized(request: Request): request is QuantizedEmbedRequest {
  return (request.precision ?? "float32") !== "float32";
}

async function embedAtOnce(texts: readonly string[], flags: EmbedFlags, session: Session, terminal: Terminal): Promise<void> {
  const embedding = embed(session, texts, requestOf(flags, session, terminal));
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

async function embedInParts(texts: readonly string[], flags: EmbedFlags, session: Session, terminal: Terminal): Promise<void> {
  const { signal: _signal, ...request } = requestOf(flags, session, terminal);
  const { variant, ...options } = request;
  const loading = session.runtime.load(session.model, {
    ...(variant === undefined ? {} : { variant }),
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
