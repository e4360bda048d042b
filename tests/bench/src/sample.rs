//! Samples, and how two things are compared on a machine that does other work as well.

use std::time::Duration;

use anyhow::Result;

/// Durations of one kind of work.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    seconds: Vec<f64>,
    /// The median of each round.
    rounds: Vec<f64>,
}

impl Samples {
    /// Adds one.
    pub fn push(&mut self, took: Duration) {
        self.seconds.push(took.as_secs_f64());
    }

    /// Ends a round: what was added since the last one ended belongs to it.
    fn end_round(&mut self, first: usize) {
        self.rounds.push(quantile(&self.seconds[first..], 0.5));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.seconds.len()
    }

    /// What half of them stay under.
    pub fn median(&self) -> f64 {
        quantile(&self.seconds, 0.5)
    }

    /// What this part of them stays under.
    pub fn quantile(&self, part: f64) -> f64 {
        quantile(&self.seconds, part)
    }

    /// How many times as long as the other's: the median over the rounds, as what disturbs one round disturbs both
    /// sides of it.
    pub fn ratio(&self, other: &Self) -> f64 {
        let ratios: Vec<f64> =
            self.rounds.iter().zip(&other.rounds).map(|(ours, theirs)| ours / theirs).collect();
        quantile(&ratios, 0.5)
    }
}

/// How many times as long as the other's a quantile is, where each round has samples of its own: the median over the
/// rounds.
pub fn ratio_of_rounds(ours: &[Samples], theirs: &[Samples], part: f64) -> f64 {
    let ratios: Vec<f64> =
        ours.iter().zip(theirs).map(|(ours, theirs)| ours.quantile(part) / theirs.quantile(part)).collect();
    quantile(&ratios, 0.5)
}

/// All samples of several rounds.
pub fn together(rounds: &[Samples]) -> Samples {
    let seconds = rounds.iter().flat_map(|round| round.seconds.iter().copied()).collect();
    Samples { seconds, rounds: Vec::new() }
}

/// A quantile by nearest rank; of nothing, not a number.
fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// Something that can be done and timed.
pub type Work<'a> = Box<dyn FnMut() -> Result<Duration> + 'a>;

/// Does each work `calls` times in each of `rounds` rounds, one work after the other in each round, after a round that
/// does not count.
pub fn interleave(rounds: usize, calls: usize, works: &mut [Work<'_>]) -> Result<Vec<Samples>> {
    let mut all = vec![Samples::default(); works.len()];
    for round in 0..=rounds {
        for (work, samples) in works.iter_mut().zip(&mut all) {
            let first = samples.len();
            for _ in 0..calls {
                let took = work()?;
                if round > 0 {
                    samples.push(took);
                }
            }
            if round > 0 {
                samples.end_round(first);
            }
        }
    }
    Ok(all)
}

/// A duration as people read it.
pub fn show(seconds: f64) -> String {
    match seconds * 1e6 {
        micros if micros.is_nan() => "-".to_owned(),
        micros if micros < 1_000.0 => format!("{micros:.0} us"),
        micros if micros < 10_000.0 => format!("{:.2} ms", micros / 1e3),
        micros if micros < 1e6 => format!("{:.1} ms", micros / 1e3),
        micros => format!("{:.2} s", micros / 1e6),
    }
}

/// The median and the 95th percentile.
pub fn both(samples: &Samples) -> String {
    format!("{} (p95 {})", show(samples.median()), show(samples.quantile(0.95)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_by_nearest_rank() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(quantile(&values, 0.5), 50.0);
        assert_eq!(quantile(&values, 0.99), 99.0);
        assert_eq!(quantile(&values, 1.0), 100.0);
        assert_eq!(quantile(&[7.0], 0.01), 7.0);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn a_disturbance_of_a_round_leaves_the_ratio_alone() {
        let mut slow = [1u64, 1, 1, 1, 1, 1].iter().cycle().enumerate();
        let mut turn = 0;
        let mut noise = move || {
            let (index, micros) = slow.next().expect("endless");
            Duration::from_micros(micros * if index / 4 == 2 { 500 } else { 1 })
        };
        let work: Work<'_> = Box::new(move || {
            turn += 1;
            let noise = noise();
            Ok(if (turn - 1) / 2 % 2 == 0 { noise * 2 } else { noise })
        });
        let work = std::cell::RefCell::new(work);
        let mut works: Vec<Work<'_>> =
            vec![Box::new(|| work.borrow_mut()()), Box::new(|| work.borrow_mut()())];
        let all = interleave(5, 2, &mut works).unwrap();
        assert_eq!((all[0].len(), all[1].len()), (10, 10));
        assert!((all[0].ratio(&all[1]) - 2.0).abs() < 1e-9);
    }
}
