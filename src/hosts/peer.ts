/** The interface of a peer: a worker thread or a child process that holds one model and answers one call at a time. */
import type { AnswerMessage, CallMessage } from "./protocol.ts";

/** A worker thread or child process. */
export interface Peer {
  /** "worker" or "process", for messages. */
  readonly kind: string;
  /** Sends a call. Ports in it are transferred. Throws if the message cannot be cloned. */
  send(message: CallMessage): void;
  /** "busy": the peer keeps the program alive. "idle": it does not. */
  setBusy(state: "busy" | "idle"): void;
  /** Whether `kill` may be called during a call. Terminating a thread inside a native engine would abort the process. */
  readonly interruptible: boolean;
  /**
   * Marks a peer that is not `interruptible` and whose call may never end: it no longer keeps the program alive, and the exit
   * of the program waits for it only briefly.
   */
  markHung?(): void;
  /** Ends the peer between two calls. Resolves when its memory is free. A peer that does not end in time is killed. */
  end(): Promise<void>;
  /** Ends the peer at once. Resolves when its memory is free. May be called during a call only if `interruptible`. */
  kill(): Promise<void>;
}

/** Events of a peer: each answer, and its death if it was not ended by the host. */
export interface PeerEvents {
  readonly onAnswer: (message: AnswerMessage) => void;
  /** `reason`: a sentence without a full stop, for example "the worker ended with code 7". */
  readonly onDeath: (reason: string, details?: DeathDetails) => void;
  /** The thread has ended, by itself or by the host. It accesses no shared memory any more. */
  readonly onEnd: () => void;
}

/** Details of a peer's death. */
export interface DeathDetails {
  readonly cause?: unknown;
  /** Becomes the `data` of the error. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** Starts a peer. `interruptible`: whether the backend's thread may be terminated during a call (`SupportedModels.runsIn`). */
export type StartPeer = (events: PeerEvents, interruptible: boolean) => Peer;
