/** Written by `npm run schemas`; the zod schema beside it is the source. */
import type { Decision } from "../runtime/decision/generated-decision.ts";

/** The record of one run. Times are ISO 8601 in UTC, durations are in milliseconds, digests are hexadecimal SHA-256. */
export interface Receipt {
  readonly format: "inferyard-receipt";
  readonly schemaVersion: "1.0.0";
  readonly id: string;
  /** When the run began. */
  readonly startedAt: string;
  /** When it had ended. */
  readonly finishedAt: string;
  /** Version of this package. */
  readonly inferyardVersion: string;
  readonly machine: ReceiptMachine;
  /** The engine's library, with the files that it loads if the engine reports them. `path` and `sha256` are set for a library file named by the user. */
  readonly library: {
    readonly name: string;
    readonly version: string;
    /** All files of native code that compute: the library and what it loads. */
    readonly files?: readonly {
      readonly name: string;
      readonly sha256: string;
    }[];
    readonly path?: string;
    readonly sha256?: string;
  };
  readonly model: ReceiptModel;
  readonly decision: Decision;
  readonly computePath: ComputePath;
  /** Kernels that ran between `startedAt` and `finishedAt`, as the engine counted them. Empty if it does not count. */
  readonly kernels: readonly {
    readonly id: string;
    readonly calls: number;
  }[];
  readonly tests: readonly ReceiptTest[];
  readonly determinism: Determinism;
  readonly figures: ReceiptFigures;
  readonly input: {
    readonly prompt: string | null;
    readonly tokens: readonly number[];
  };
  readonly output: ReceiptOutput;
  /** Signature of the receipt. Absent: it is not signed. */
  readonly signature?: ReceiptSignature;
}

/** The machine that ran it. */
export interface ReceiptMachine {
  readonly processor: string;
  readonly cores: number;
  readonly quota: number;
  readonly memoryBytes: number;
  readonly platform: string;
  readonly architecture: string;
  readonly node: string;
  readonly accelerators: readonly {
    readonly device: string;
    readonly name: string;
    readonly driver?: string;
  }[];
  /** Instruction sets in the vendor's spelling. */
  readonly features: readonly string[];
  readonly bandwidth: MemoryBandwidth;
}

/** Bytes per second that one thread moved when it copied memory: each byte is read and written, and counts twice. */
export interface MemoryBandwidth {
  /** From one large buffer to another, which no cache holds. */
  readonly memory: number;
  /** Within the cache of one core. */
  readonly cache: number;
}

/** The model that ran. */
export interface ReceiptModel {
  readonly reference: string;
  readonly name: string;
  readonly files: readonly ReceiptFile[];
  /** Types of the weights as they are in the files, the one with the most bytes first. Empty if the format does not list them. */
  readonly weightTypes: readonly {
    readonly type: string;
    readonly bytes: number;
  }[];
  /** Minimum number of weight bytes that must be read for each token. Null if the format does not state it. */
  readonly weightBytesPerToken: number | null;
}

/** A file of the model. */
export interface ReceiptFile {
  /** Name without folders. */
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Where the run was computed, taken from the kernels that were counted. */
export interface ComputePath {
  /** Target that ran it. */
  readonly target: string;
  /** "fast": all calls were of kernels; "mixed": some were of scalar code or the interpreter; "slow": all were; "uncounted": the engine does not count its kernels. */
  readonly kind: "fast" | "mixed" | "slow" | "uncounted";
  readonly fastCalls: number;
  readonly slowCalls: number;
}

/** A test of the run. */
export interface ReceiptTest {
  readonly name: string;
  readonly passed: boolean;
  /** The measured value, for people. */
  readonly detail: string;
}

/** Comparison of several runs with the same input. */
export interface Determinism {
  /** Whether all runs gave the same tokens and the same logits, bit for bit. */
  readonly deterministic: boolean;
  /** One entry for each run: digest of its tokens, and of the bits of its last logits. */
  readonly runs: readonly {
    readonly tokensSha256: string;
    readonly logitsSha256: string;
  }[];
}

/** Measurements of the run. */
export interface ReceiptFigures {
  readonly loadMs: number;
  readonly promptTokens: number;
  readonly generatedTokens: number;
  /** Milliseconds until the logits for the position after the prompt, from which the first token is chosen. */
  readonly prefillMs: number;
  /** Milliseconds from the first token's logits until the last token's logits. */
  readonly decodeMs: number;
  readonly timeToFirstTokenMs: number;
  readonly totalMs: number;
  readonly prefillTokensPerSecond: number;
  /** Tokens after the first, divided by the time they took. Null if there was one token. */
  readonly decodeTokensPerSecond: number | null;
  readonly peakMemory: PeakMemory;
}

/** Peak resident memory: of this process with all its threads, or of the child process that holds the model alone. */
export interface PeakMemory {
  readonly bytes: number;
  readonly of: "process" | "child process";
}

/** Generated tokens and text. */
export interface ReceiptOutput {
  readonly tokens: readonly number[];
  readonly text: string | null;
  /** Digest of the tokens of input and output: of their JSON, as [input, output]. */
  readonly sha256: string;
}

/** An Ed25519 signature (RFC 8032) over the canonical form (RFC 8785) of the receipt with this field without `value`. */
export interface ReceiptSignature {
  readonly algorithm: "Ed25519";
  readonly canonicalization: "RFC8785";
  /** The public key: SPKI in PEM. */
  readonly publicKey: string;
  /** SHA-256 of the public key in SPKI DER, hexadecimal. */
  readonly keyId: string;
  /** The signature in base64. */
  readonly value: string;
}
