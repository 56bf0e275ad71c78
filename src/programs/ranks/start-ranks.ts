/** Ranks that the program itself starts: this process is rank 0, the others are its child processes. */
import { InferyardError } from "../../contract/errors.ts";
import { type Child, startChild } from "../../hosts/process.ts";
import type { DeviceSettings } from "../interface/program-backend.ts";
import { ExchangeFile } from "./exchange-file.ts";
import type { RankTeam } from "./rank-device.ts";
import { type GroupMessage, RankGroup } from "./rank-group.ts";
import type { RankMessage } from "./rank-messages.ts";

/**
 * Starts the other ranks. When one of them ends, all fail with HOST_DIED, and the others are ended; when this process ends, they end with it. Throws NOT_BUILT on systems other than Linux.
 */
export async function startRanks(size: number, backend: string, settings: Omit<DeviceSettings, "weights">): Promise<RankTeam> {
  const file = ExchangeFile.create(size);
  const children = new Map<number, Child<RankMessage>>();
  const links = new Map<number, (message: GroupMessage) => void>();
  const group = new RankGroup(0, size, file, links);
  const endAll = async (how: "end" | "kill"): Promise<void> => {
    await Promise.all([...children.values()].map(async (child) => await child[how]()));
  };
  const fail = (error: InferyardError): void => {
    if (group.failure !== undefined) return;
    group.fail(error);
    void endAll("kill");
  };
  for (let rank = 1; rank < size; rank += 1) {
    const child = startChild<RankMessage, GroupMessage>(new URL("./rank-child.ts", import.meta.url), {
      onAnswer: (message) => {
        if (message.kind === "end") fail(InferyardError.fromJSON(message.error));
        else group.receive(rank, message);
      },
      onDeath: (reason, { cause, facts = {} } = {}) =>
        fail(
          new InferyardError("HOST_DIED", `rank ${rank} of ${size} has ended, and the other ranks with it: ${reason}`, {
            cause,
            data: { rank, ...facts },
            remedy: "compile the program again",
          }),
        ),
    });
    children.set(rank, child);
    links.set(rank, (message) => child.send(message));
    child.send({ kind: "start", rank, size, path: file.path, chunkBytes: file.chunkBytes, backend, settings });
  }
  const setBusy = (state: "busy" | "idle"): void => {
    for (const child of children.values()) child.setBusy(state);
  };
  setBusy("idle");
  let works = 0;
  return {
    group,
    command: (rank, command) => children.get(rank)?.send(command),
    async busy(work) {
      works += 1;
      if (works === 1) setBusy("busy");
      try {
        return await work();
      } finally {
        works -= 1;
        if (works === 0 && group.failure === undefined) setBusy("idle");
      }
    },
    async dispose() {
      group.close();
      await endAll("end");
    },
  };
}
