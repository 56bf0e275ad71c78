/** Metrics whose values are kept elsewhere and read when the metrics are. */
import type { Counter, CounterConfiguration, Gauge, LabelValues } from "prom-client";

/** Adds a gauge or a counter. `read` adds all its values: a series that it does not add, as of a model that was unloaded, is there no more. */
export function addCollected<Label extends string = string>(
  Kind: typeof Gauge | typeof Counter,
  configuration: CounterConfiguration<Label>,
  read: (add: (labels: LabelValues<Label>, value: number) => void) => void,
): void {
  const metric: Gauge<Label> | Counter<Label> = new Kind<Label>({
    ...configuration,
    collect: () => {
      metric.reset();
      read((labels, value) => metric.inc(labels, value));
    },
  });
}
