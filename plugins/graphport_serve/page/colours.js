// Colours that tell things apart on a light and on a dark ground, and a scale for heat.

const CATEGORIES = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#3aa6a0", "#b07aa1", "#c9a227", "#9c755f", "#e377a8", "#6db7e8"];
const HEAT = ["#7a8699", "#7b6fb0", "#b5578f", "#e0605c", "#f59e3a", "#ffd34d"].map((hex) =>
  [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
export const OTHER = "#8b929c";

// A colour for each of the names, the same each time: the commonest names first, the rest share OTHER.
export function palette(names) {
  return new Map(names.map((name, index) => [name, CATEGORIES[index] ?? OTHER]));
}

// The colour of a share in [0, 1], cold to hot.
export function heat(share) {
  const at = Math.min(1, Math.max(0, share)) * (HEAT.length - 1);
  const low = Math.min(Math.floor(at), HEAT.length - 2);
  const mixed = HEAT[low].map((value, channel) => Math.round(value + (HEAT[low + 1][channel] - value) * (at - low)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
