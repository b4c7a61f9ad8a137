/** The smallest round number (1, 2 or 5 times a power of ten) that is at least `value`. */
export function niceCeiling(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 5, 10].find((each) => each * power >= value) ?? 10;
  return factor * power;
}

/** Colour classes of series, in order. Lines also differ in their dashes, so that colour is not the only difference. */
export const SERIES = [
  { stroke: "stroke-s1", fill: "fill-s1", swatch: "bg-s1", dash: undefined },
  { stroke: "stroke-s2", fill: "fill-s2", swatch: "bg-s2", dash: "6 3" },
  { stroke: "stroke-s3", fill: "fill-s3", swatch: "bg-s3", dash: "2 2" },
  { stroke: "stroke-s4", fill: "fill-s4", swatch: "bg-s4", dash: "8 2 2 2" },
  { stroke: "stroke-s5", fill: "fill-s5", swatch: "bg-s5", dash: "4 4" },
  { stroke: "stroke-s6", fill: "fill-s6", swatch: "bg-s6", dash: "10 4" },
  { stroke: "stroke-s7", fill: "fill-s7", swatch: "bg-s7", dash: "1 3" },
] as const;

export function seriesStyle(index: number): (typeof SERIES)[number] {
  return SERIES[index % SERIES.length] ?? SERIES[0];
}
