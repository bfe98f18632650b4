//! Areas as large as what they stand for, in one rectangle.
//!
//! The layout is the squarified one: each row of tiles is filled as long as that makes its tiles more like squares, which
//! are easier to compare than stripes.

use maud::{Markup, html};

use super::short;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 260.0;
/// Tiles that are drawn; the smallest others are too small to be seen.
const MOST_TILES: usize = 60;

/// One area: how large it is, and how much of it is annotated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tile {
    pub(crate) name: String,
    pub(crate) size: usize,
    pub(crate) n_annotated: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// A map of `tiles`, the largest first, shaded by how much of each is annotated.
pub(crate) fn treemap(title: &str, tiles: &[Tile]) -> Markup {
    let tiles: Vec<&Tile> = tiles.iter().filter(|tile| 0 < tile.size).take(MOST_TILES).collect();
    let sizes: Vec<f64> = tiles.iter().map(|tile| as_f64(tile.size)).collect();
    let areas = laid_out(&sizes, Area { left: 0.0, top: 0.0, width: WIDTH, height: HEIGHT });
    let label = format!("{title}: {} areas; the table below has the numbers", tiles.len());
    html! {
        figure {
            figcaption {
                (title) " " span class="key k-none" { "none annotated" } " " span class="key k-most" { "all annotated" }
            }
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(label) {
                @for (tile, area) in tiles.iter().zip(&areas) {
                    rect class=(shade(tile)) x=(rounded(area.left)) y=(rounded(area.top))
                        width=(rounded((area.width - 1.0).max(0.5))) height=(rounded((area.height - 1.0).max(0.5))) {
                        title { (tile.name) ": " (tile.n_annotated) " of " (tile.size) " commits annotated" }
                    }
                    @if 44.0 < area.width && 18.0 < area.height {
                        text class="on-tile" x=(rounded(area.left + 5.0)) y=(rounded(area.top + 14.0)) {
                            (short(&tile.name, n_letters(area.width)))
                        }
                    }
                }
            }
            details {
                summary { "Numbers" }
                table {
                    thead { tr { th scope="col" { "folder" } th scope="col" { "commits" } th scope="col" { "annotated" } } }
                    tbody {
                        @for tile in &tiles {
                            tr { th scope="row" { (tile.name) } td { (tile.size) } td { (tile.n_annotated) } }
                        }
                    }
                }
            }
        }
    }
}

/// The class of a tile by the share that is annotated: `t0` for none, then in quarters.
fn shade(tile: &Tile) -> &'static str {
    match (4 * tile.n_annotated).div_ceil(tile.size.max(1)) {
        0 => "t0",
        1 => "t1",
        2 => "t2",
        3 => "t3",
        _ => "t4",
    }
}

/// How many letters fit into a tile.
fn n_letters(width: f64) -> usize {
    const LETTER: f64 = 6.6;
    let mut n = 1;
    while f64::from(u16::try_from(n).unwrap_or(u16::MAX)) * LETTER < width - 10.0 && n < 60 {
        n += 1;
    }
    n
}

#[expect(clippy::cast_precision_loss, reason = "counts of commits are far below 2^52")]
fn as_f64(size: usize) -> f64 {
    size as f64
}

fn rounded(length: f64) -> String {
    format!("{length:.1}")
}

/// Where each of `sizes`, the largest first, is within `whole`.
fn laid_out(sizes: &[f64], whole: Area) -> Vec<Area> {
    let total: f64 = sizes.iter().sum();
    let mut areas = Vec::with_capacity(sizes.len());
    let mut rest = whole;
    let mut from = 0;
    if total <= 0.0 {
        return areas;
    }
    let scale = whole.width * whole.height / total;
    while from < sizes.len() {
        let side = rest.width.min(rest.height).max(f64::MIN_POSITIVE);
        let mut to = from + 1;
        while to < sizes.len()
            && worst(&sizes[from..=to], scale, side) <= worst(&sizes[from..to], scale, side)
        {
            to += 1;
        }
        rest = add_row(&mut areas, &sizes[from..to], scale, rest);
        from = to;
    }
    areas
}

/// How far the worst tile of a row along `side` is from a square: 1 is one.
fn worst(row: &[f64], scale: f64, side: f64) -> f64 {
    let sum: f64 = row.iter().sum::<f64>() * scale;
    let ratio = |size: &f64| {
        let area = (size * scale).max(f64::MIN_POSITIVE);
        (side * side * area / (sum * sum)).max(sum * sum / (side * side * area))
    };
    row.iter().map(ratio).fold(1.0, f64::max)
}

/// Lays a row along the shorter side of `rest`, and returns what is left of it.
fn add_row(areas: &mut Vec<Area>, row: &[f64], scale: f64, rest: Area) -> Area {
    let sum: f64 = row.iter().sum::<f64>() * scale;
    let is_column = rest.height <= rest.width;
    let side = if is_column { rest.height } else { rest.width };
    let thick = sum / side.max(f64::MIN_POSITIVE);
    let mut at = 0.0;
    for size in row {
        let long = size * scale / thick.max(f64::MIN_POSITIVE);
        areas.push(match is_column {
            true => Area { left: rest.left, top: rest.top + at, width: thick, height: long },
            false => Area { left: rest.left + at, top: rest.top, width: long, height: thick },
        });
        at += long;
    }
    match is_column {
        true => Area { left: rest.left + thick, width: rest.width - thick, ..rest },
        false => Area { top: rest.top + thick, height: rest.height - thick, ..rest },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Area = Area { left: 0.0, top: 0.0, width: 60.0, height: 40.0 };

    #[test]
    fn areas_are_as_large_as_their_sizes_and_fill_the_whole() {
        let sizes = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let areas = laid_out(&sizes, WHOLE);
        for (size, area) in sizes.iter().zip(&areas) {
            assert!((area.width * area.height - size * 100.0).abs() < 0.01, "{size}: {area:?}");
            assert!(area.left + area.width <= 60.01 && area.top + area.height <= 40.01, "{area:?}");
            let ratio = area.width.max(area.height) / area.width.min(area.height);
            assert!(ratio < 4.0, "{area:?} is a stripe");
        }
        assert_eq!(areas.len(), sizes.len());
    }

    #[test]
    fn odd_sizes_have_areas_too() {
        assert_eq!(laid_out(&[], WHOLE), []);
        assert_eq!(laid_out(&[0.0], WHOLE), []);
        assert_eq!(laid_out(&[5.0], WHOLE), [WHOLE]);
        assert_eq!(laid_out(&[1e9, 1.0], WHOLE).len(), 2);
    }

    #[test]
    fn a_tile_is_shaded_by_the_share_that_is_annotated() {
        let check = |n_annotated, expected| {
            let tile = Tile { name: "src".into(), size: 8, n_annotated };
            assert_eq!(shade(&tile), expected, "{n_annotated} of 8");
        };
        check(0, "t0");
        check(1, "t1");
        check(4, "t2");
        check(5, "t3");
        check(8, "t4");
    }
}
