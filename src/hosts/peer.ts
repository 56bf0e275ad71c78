/** The other end of a host: a worker thread or a child process that holds one model and answers one call after the other. */
import type { AnswerMessage, CallMessage } from "./protocol.ts";

export interface Peer {
  /** "worker" or "process", for messages. */
  readonly kind: string;
  /** Throws where the message cannot be copied to the other side. Ports in it are handed over. */
  send(message: CallMessage): void;
  /** busy: the program must not end while this peer works. idle: it may. */
  setBusy(state: "busy" | "idle"): void;
  /** Whether `kill` may be called during a call. A thread inside a native engine must not be terminated: that aborts the process. */
  readonly interruptible: boolean;
  /** It is not `interruptible`, and its call may never end: the program neither goes on for it nor waits long for it when it exits. */
  markHung?(): void;
  /** Ends it between two calls; resolves when its memory is free. One that does not end by itself in time is killed. */
  end(): Promise<void>;
  /** Ends it at once; resolves when its memory is free. During a call only where it is `interruptible`. */
  kill(): Promise<void>;
}

/** What a peer tells: each answer, and once, if it was not ended by us, why it died. */
export interface PeerEvents {
  readonly onAnswer: (message: AnswerMessage) => void;
  /** A sentence without a full stop, for example "the worker ended with code 7". */
  readonly onDeath: (reason: string, details?: DeathDetails) => void;
  /** A thread has ended, by itself or by us: it touches no shared memory any more. */
  readonly onEnd: () => void;
}

export interface DeathDetails {
  readonly cause?: unknown;
  /** For programs: becomes the `data` of the error. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** Starts a peer. `interruptible`: whether the backend lets a thread be ended during a call (`Capabilities.interruptible`). */
export type StartPeer = (events: PeerEvents, interruptible: boolean) => Peer;

/**
 * Arguments of Node.js a peer inherits: none of a program that was given as text, since they would run it again, and none of a debugger,
 * since there is one port.
 */
export function inheritedArguments(): string[] {
  if (process.execArgv.some((argument) => /^(-e|-p|--eval|--print|--input-type)\b/.test(argument))) return [];
  return process.execArgv.filter((argument) => !argument.startsWith("--inspect"));
}
