/** Classifies errors of onnxruntime by their message, since it throws plain Error objects. */
import { type ErrorCode, InferyardError, getMessage } from "../../contract/errors.ts";

interface ErrorRule {
  readonly code: ErrorCode;
  readonly pattern: RegExp;
  readonly remedy?: string;
}

/**
 * Rules for failed loads; the first match applies. Unsupported operators come first, since their message also says "invalid
 * model".
 */
const loadErrorRules: readonly ErrorRule[] = [
  {
    code: "MODEL_UNSUPPORTED",
    pattern:
      /NOT_IMPLEMENTED|Could not find an implementation|is not a registered function|No Op registered for|Unsupported model IR|under development|fallback to CPU EP has been explicitly disabled/i,
    remedy: "run it on another backend or device; `inferyard explain` lists them",
  },
  {
    code: "MODEL_INVALID",
    pattern:
      /protobuf parsing failed|INVALID_PROTOBUF|No graph was found|ModelProto does not have a graph|external data|INVALID_GRAPH|not a valid model|is an invalid model/i,
    remedy: "the file is damaged or is not ONNX: get it again, and compare its size or digest with the source",
  },
  {
    code: "OUT_OF_MEMORY",
    pattern: /bad_alloc|bad allocation|out of memory|Failed to allocate/i,
    remedy: "free memory, or choose a smaller variant",
  },
];

const runErrorRules: readonly ErrorRule[] = [
  {
    code: "INPUT_INVALID",
    pattern:
      /INVALID_ARGUMENT|out of data bounds|out of bounds|Invalid rank|Got invalid dimensions|Attempting to broadcast|must be within the inclusive range/i,
    remedy: "compare the inputs with what the model takes",
  },
  {
    code: "OUT_OF_MEMORY",
    pattern: /bad_alloc|bad allocation|out of memory|Failed to allocate/i,
    remedy: "send smaller batches",
  },
];

/** The error of a failed load. `subject`: the file name, for the message. */
export function loadFailure(thrown: unknown, subject: string): InferyardError {
  return translate(thrown, loadErrorRules, "LOAD_FAILED", `onnxruntime could not load ${subject}`);
}

/** Converts an error of onnxruntime during a run to an InferyardError; RUN_FAILED unless its message has a known cause. */
export function runFailure(thrown: unknown): InferyardError {
  return translate(thrown, runErrorRules, "RUN_FAILED", "onnxruntime failed while running");
}

function translate(thrown: unknown, meanings: readonly ErrorRule[], otherwise: ErrorCode, context: string): InferyardError {
  if (thrown instanceof InferyardError) return thrown;
  const message = getMessage(thrown);
  const meaning = meanings.find(({ pattern }) => pattern.test(message));
  return new InferyardError(meaning?.code ?? otherwise, `${context}: ${cleanMessage(message)}`, {
    cause: thrown,
    ...(meaning?.remedy === undefined ? {} : { remedy: meaning.remedy }),
  });
}

/**
 * Shortens a message of onnxruntime: removes colours, source positions, C++ signatures and conditions, and keeps the last
 * informative sentence, at most 400 characters.
 */
export function cleanMessage(message: string): string {
  const plain = message.replaceAll(/\u001B\[[\d;]*m/g, "").trim(); // eslint-disable-line no-control-regex
  const afterSource = plain.split(/\/\S*\/onnxruntime\/\S+:\d+ /).at(-1) ?? plain;
  const sentence = afterSource
    .replace(/^.*? was false\. /s, "")
    .replace(/^.*?\) (?=[A-Z])/s, "")
    .replace(/^Load model from \S+ failed:\s*/, "")
    .replace(/ ERROR_CODE: \d+, ERROR_MESSAGE:/, "")
    .replace(/^\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : /, "");
  return sentence.trim().replace(/\.$/, "").slice(0, 400);
}
