import { describe, expect, it, vi } from "vitest";
import { CallDeadline } from "./call-deadline.ts";

function deadlineOf(client: AbortSignal, timeoutMs = 60_000, turn = (): Promise<void> | undefined => undefined): CallDeadline {
  return new CallDeadline({ client, timeoutMs, expectedWaitMs: () => 1500.5, turn });
}

describe("the end of a call", () => {
  it("has the reason of the client that left", async () => {
    const client = new AbortController();
    const deadline = deadlineOf(client.signal);
    client.abort("gone");
    await vi.waitFor(() => expect(deadline.signal.aborted).toBe(true));
    expect([deadline.signal.reason, deadline.timeoutError]).toEqual(["gone", undefined]);
    deadline.stop();
  });

  it("is the timeout once the time is over, although the thread sees first that the client left", async () => {
    const client = new AbortController();
    const deadline = deadlineOf(client.signal, 1);
    const until = performance.now() + 2;
    while (performance.now() < until); // a thread that is busy when the timer is due
    client.abort("gone");
    await vi.waitFor(() => expect(deadline.signal.aborted).toBe(true));
    expect(deadline.signal.reason).toMatchObject({ code: "REQUEST_TIMEOUT", retryAfterMs: 1501 });
    expect(deadline.timeoutError).toBe(deadline.signal.reason);
    deadline.stop();
  });

  it("stays that of the client where the turn comes after the time", async () => {
    const client = new AbortController();
    let begin = (): void => {};
    const turn = new Promise<void>((resolve) => (begin = resolve));
    const deadline = deadlineOf(client.signal, 5, () => turn);
    client.abort("gone");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(deadline.signal.aborted).toBe(false);
    begin();
    await vi.waitFor(() => expect(deadline.signal.reason).toBe("gone"));
    deadline.stop();
  });

  it("comes later where the time began anew, and not at all once the call is done", async () => {
    const client = new AbortController();
    const deadline = deadlineOf(client.signal, 20);
    deadline.extend();
    deadline.stop();
    client.abort("gone");
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(deadline.signal.aborted).toBe(false);
  });
});
