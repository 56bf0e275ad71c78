/**
 * Ranks that something else has started, as torchrun does: each process runs the same program, and knows its number and how many there are. They meet at a socket of this machine that rank 0 listens on,
 * whose name has no file, and share the memory that rank 0 creates.
 */
import { randomUUID } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { required } from "../../contract/checked.ts";
import { InferyardError, wrapError } from "../../contract/errors.ts";
import { deferred } from "../../concurrency/deferred.ts";
import { ExchangeFile } from "./exchange-file.ts";
import type { RankTeam } from "./rank-device.ts";
import { type GroupMessage, RankGroup } from "./rank-group.ts";

/** One rank among others. */
export interface JoinSettings {
  readonly rank: number;
  readonly size: number;
  /** Equal on all ranks, and different from other groups of this user on this machine. */
  readonly name: string;
  /** What the ranks open, to compare. */
  readonly backend: string;
}

/** Milliseconds to wait for the other ranks. */
const maxWaitMs = 60_000;
/** Milliseconds between two attempts to reach rank 0. */
const retryMs = 20;

type JoinMessage =
  | { readonly kind: "hello"; readonly rank: number; readonly size: number; readonly backend: string }
  /** `token`: to be written into the shared memory, which processes of other users cannot open. */
  | { readonly kind: "welcome"; readonly path: string; readonly chunkBytes: number; readonly token: string }
  | { readonly kind: "ready" }
  | GroupMessage;

/** Meets the other ranks. Throws HOST_DIED if they do not come or end, INPUT_INVALID if they do not agree, and NOT_BUILT on systems other than Linux. */
export async function joinRanks(settings: JoinSettings): Promise<RankTeam> {
  const address = `\0inferyard-ranks-${process.getuid?.()}-${settings.name}`;
  return settings.rank === 0 ? await listen(settings, address) : await reach(settings, address);
}

async function listen(settings: JoinSettings, address: string): Promise<RankTeam> {
  const { size } = settings;
  const file = ExchangeFile.create(size);
  const sockets = new Map<number, Socket>();
  const links = new Map<number, (message: GroupMessage) => void>();
  const group = new RankGroup(0, size, file, links);
  const complete = deferred<void>();
  const ready = new Set<number>();
  const fail = (error: InferyardError): void => {
    group.fail(error);
    complete.reject(error);
  };
  const server = createServer((socket) => {
    let rank: number | undefined;
    const token = randomUUID();
    readMessages(socket, (message) => {
      switch (message.kind) {
        case "hello":
          if (rank !== undefined || sockets.has(message.rank)) return void socket.destroy(); // a rank of the next group: it tries again
          rank = message.rank;
          sockets.set(rank, socket);
          links.set(rank, (each) => sendMessage(socket, each));
          if (message.size !== size || message.backend !== settings.backend || rank < 1 || rank >= size)
            return fail(disagreement(settings, message));
          return sendMessage(socket, { kind: "welcome", path: file.path, chunkBytes: file.chunkBytes, token });
        case "ready": {
          const written = new Uint8Array(token.length);
          file.read(0, required(rank, "a rank that said its number"), written);
          if (Buffer.from(written).toString("latin1") !== token)
            return fail(new InferyardError("RUN_FAILED", "a rank does not share the memory"));
          ready.add(required(rank, "a rank"));
          if (ready.size === size - 1) complete.resolve();
          return;
        }
        case "welcome":
          return;
        case "end":
        case "give":
        case "leave":
        case "take":
          if (rank !== undefined && ready.has(rank)) group.receive(rank, message);
      }
    });
    socket.once("close", () => {
      if (rank !== undefined && sockets.get(rank) === socket && !group.hasLeft(rank)) fail(ended(rank, size));
    });
  });
  try {
    await listenAt(server, address);
    await withLimit(complete.promise, () => `${size - 1 - ready.size} of ${size} ranks did not come`);
  } catch (error) {
    group.fail(wrapError(error, "RUN_FAILED", "the ranks did not meet"));
    for (const socket of sockets.values()) socket.end();
    throw error;
  } finally {
    server.close();
  }
  return createTeam(group, [...sockets.values()]);
}

async function reach(settings: JoinSettings, address: string): Promise<RankTeam> {
  const { rank, size, backend } = settings;
  const deadline = performance.now() + maxWaitMs;
  for (;;) {
    // oxlint-disable no-await-in-loop -- one attempt after the other
    const team = await attemptToReach(settings, address);
    if (team !== undefined) return team;
    if (performance.now() > deadline)
      throw new InferyardError("HOST_DIED", `rank ${rank} of ${size} does not find rank 0, which opens ${backend}`);
    await wait(retryMs);
    // oxlint-enable no-await-in-loop
  }
}

/** Undefined if rank 0 is not there yet, or still gathers an earlier group. */
async function attemptToReach({ rank, size, backend }: JoinSettings, address: string): Promise<RankTeam | undefined> {
  const socket = connect({ path: address });
  const found = deferred<RankGroup | undefined>();
  let group: RankGroup | undefined;
  readMessages(socket, (message) => {
    if (message.kind === "welcome") {
      try {
        const file = ExchangeFile.open(message.path, size, message.chunkBytes);
        file.write(0, rank, Buffer.from(message.token, "latin1"));
        group = new RankGroup(rank, size, file, new Map([[0, (each: GroupMessage) => sendMessage(socket, each)]]));
        sendMessage(socket, { kind: "ready" });
        found.resolve(group);
      } catch (error) {
        found.reject(error);
      }
    } else if (message.kind === "end" && group === undefined) found.reject(InferyardError.fromJSON(message.error));
    else if (message.kind !== "hello" && message.kind !== "ready") group?.receive(0, message);
  });
  socket.once("connect", () => sendMessage(socket, { kind: "hello", rank, size, backend }));
  socket.once("close", () => {
    if (group?.hasLeft(0) === false) group.fail(ended(0, size));
    found.resolve(undefined);
  });
  const joined = await found.promise;
  return joined === undefined ? undefined : createTeam(joined, [socket]);
}

function createTeam(group: RankGroup, sockets: readonly Socket[]): RankTeam {
  const setBusy = (isBusy: boolean): void => {
    for (const socket of sockets)
      if (isBusy) socket.ref();
      else socket.unref();
  };
  setBusy(false);
  let works = 0;
  return {
    group,
    command: undefined,
    async busy(work) {
      works += 1;
      setBusy(true);
      try {
        return await work();
      } finally {
        works -= 1;
        if (works === 0) setBusy(false);
      }
    },
    async dispose() {
      group.close();
      for (const socket of sockets) socket.end();
    },
  };
}

function ended(rank: number, size: number): InferyardError {
  return new InferyardError("HOST_DIED", `rank ${rank} of ${size} has ended, and the other ranks with it`, {
    data: { rank },
    remedy: "start all ranks again",
  });
}

function disagreement(
  own: JoinSettings,
  other: { readonly rank: number; readonly size: number; readonly backend: string },
): InferyardError {
  const message = `rank ${other.rank} of ${other.size} opens ${other.backend}, and rank 0 of ${own.size} opens ${own.backend}`;
  return new InferyardError("INPUT_INVALID", message, { remedy: "start all ranks with the same program and WORLD_SIZE" });
}

/** Messages are lines of JSON. What is none ends the connection. */
function readMessages(socket: Socket, take: (message: JoinMessage) => void): void {
  let rest = "";
  socket.on("error", () => {}); // "close" follows
  socket.setEncoding("utf8").on("data", (text: string) => {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    try {
      for (const line of lines) take(JSON.parse(line) as JoinMessage);
    } catch {
      socket.destroy();
    }
  });
}

function sendMessage(socket: Socket, message: JoinMessage): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify(message)}\n`);
}

async function listenAt(server: Server, address: string): Promise<void> {
  const deadline = performance.now() + maxWaitMs;
  for (;;) {
    const problem = deferred<Error | undefined>();
    const onError = (error: Error): void => problem.resolve(error);
    server.once("error", onError);
    server.listen({ path: address }, () => problem.resolve(undefined));
    // oxlint-disable no-await-in-loop -- an earlier group may still be gathering
    const error = await problem.promise;
    server.off("error", onError);
    if (error === undefined) return;
    if (performance.now() > deadline) throw wrapError(error, "RUN_FAILED", "rank 0 cannot wait for the other ranks");
    await wait(retryMs);
    // oxlint-enable no-await-in-loop
  }
}

async function withLimit(work: Promise<void>, describe: () => string): Promise<void> {
  const ending = new AbortController();
  const late = wait(maxWaitMs, "late", { signal: ending.signal }).catch(() => "ended");
  const outcome = await Promise.race([work, late]).finally(() => ending.abort());
  if (outcome === "late") throw new InferyardError("HOST_DIED", describe(), { remedy: "start all ranks" });
}
