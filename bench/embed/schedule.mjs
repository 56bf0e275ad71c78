// Which group of ratios gets the next round, and when there are no more.

// Calls `runRound(group, ratios, round)` with the ratios of the group that are open, until none is open or the next round would end after
// `seconds`. The group that has used the smallest part of its share of the time goes next; a group without open ratios leaves its share to
// the others. `ratiosOf(group)` says what is known of a group's ratios, `now()` the time in milliseconds.
export async function runSchedule({ groups, seconds, ratiosOf, runRound, now }) {
  const started = now();
  const states = groups.map((group) => ({ group, used: 0, rounds: 0, longest: 0 }));
  for (;;) {
    const left = seconds * 1000 - (now() - started);
    const [next] = states
      .filter(({ group, longest }) => longest < left && ratiosOf(group).some(({ open }) => open))
      .toSorted((a, b) => a.used / a.group.share - b.used / b.group.share);
    if (next === undefined) return;
    const before = now();
    await runRound(
      next.group,
      ratiosOf(next.group).filter(({ open }) => open),
      next.rounds,
    );
    const took = now() - before;
    next.used += took;
    next.rounds += 1;
    next.longest = Math.max(next.longest, took);
  }
}
