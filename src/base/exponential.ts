// Exponential draws without a logarithm: the ziggurat (Marsaglia and Tsang, "The ziggurat method for generating random variables",
// 2000). The area under e^−x is covered by 256 layers of one size, so that a layer is a draw of 8 bits. A point in a layer is nearly
// always left of the edge of the layer above it, and then it lies under the curve: one table, one product, one comparison.
//
//   1 ┤▙                layer 255, the narrowest
//     │██▖              …
//     │████▙▖           edge(i)  where the lower side of layer i meets the curve
//     │█████████▄▄
//     └──────────┴──►   layer 0: its rectangle, and the tail beyond `tailFrom`
//
// Layer and place are drawn from bits of their own: Marsaglia and Tsang took both from one word, and the draws showed it (Doornik, "An
// improved ziggurat method to generate normal random samples", 2005). A place is one of 2^32 in its layer, and no draw is the longest.

const layers = 256;
/** Where the tail begins, and the area of each layer with it, for 256 layers (Marsaglia and Tsang). */
const tailFrom = 7.69711747013105;
const layerArea = 0.003949659822581557;

/** By layer: where its lower side meets the curve; of layer 0, how wide a rectangle would be that has its tail's area too. */
const edges = edgesOf();
/** By layer: what one step of a 32-bit draw is worth. */
export const exponentialSteps = Float64Array.from({ length: layers }, (_, layer) => (edges[layer] ?? 0) / 2 ** 32);
/** By layer: what is below this is under the curve. */
export const exponentialInside = Float64Array.from({ length: layers }, (_, layer) => edges[layer + 1] ?? 0);

/** Rounded to 40 bits: engines differ in the last bit of a logarithm, and draws are the same everywhere. */
function edgesOf(): Float64Array {
  const found = new Float64Array(layers + 1);
  found[0] = layerArea / Math.exp(-tailFrom);
  found[1] = tailFrom;
  for (let layer = 2; layer < layers; layer++) {
    const below = found[layer - 1] ?? 0;
    found[layer] = -Math.log(Math.exp(-below) + layerArea / below);
  }
  return found.map((edge) => Math.round(edge * 2 ** 40) / 2 ** 40);
}

/**
 * A point of a layer that is not left of the layer above: whether it lies under the curve. `height`: uniform on [0, 1), says where
 * between the lower and the upper side of the layer the point is. Not for layer 0, whose point lies in the tail.
 */
export function isUnderExponential(layer: number, at: number, height: number): boolean {
  const lower = Math.exp(-(edges[layer] ?? 0));
  const upper = Math.exp(-(edges[layer + 1] ?? 0));
  return lower + height * (upper - lower) < Math.exp(-at);
}

/** The tail of an exponential is the same exponential, moved to where it begins. */
export const exponentialTail = tailFrom;
