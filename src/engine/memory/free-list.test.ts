import fc from "fast-check";
import { expect, it } from "vitest";
import { FreeList } from "./free-list.ts";

it("gives no byte twice, and one block again when all came back", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 9 })), { maxLength: 60 }), (steps) => {
      const free = new FreeList();
      free.free(0, 64);
      const taken: { readonly start: number; readonly bytes: number }[] = [];
      for (const [takes, bytes] of steps) {
        const start = takes ? free.allocate(bytes) : undefined;
        const back = takes ? undefined : taken.splice(bytes % Math.max(1, taken.length), 1)[0];
        if (back !== undefined) free.free(back.start, back.bytes);
        if (start === undefined) continue;
        for (const other of taken) expect(start + bytes <= other.start || other.start + other.bytes <= start).toBe(true);
        expect(start + bytes).toBeLessThanOrEqual(64);
        taken.push({ start, bytes });
      }
      for (const { start, bytes } of taken) free.free(start, bytes);
      expect(free.allocate(64)).toBe(0);
      expect(free.allocate(1)).toBeUndefined();
    }),
  );
});
