//! Compares the calculator on random expressions with the same expressions computed in 128 bits.

use loadgo_calculator::{Answer, Names, Trouble, answer};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Sum {
    Number(i64),
    Minus(Box<Sum>),
    Two(Box<Sum>, char, Box<Sum>),
}

fn sum() -> impl Strategy<Value = Sum> {
    let number = prop_oneof![0i64..10, 0i64..100_000, 0..=i64::MAX].prop_map(Sum::Number);
    number.prop_recursive(6, 40, 2, |inner| {
        let two = (inner.clone(), prop::sample::select(vec!['+', '-', '*', '/']), inner.clone());
        prop_oneof![
            1 => inner.prop_map(|sum| Sum::Minus(Box::new(sum))),
            4 => two.prop_map(|(left, sign, right)| Sum::Two(Box::new(left), sign, Box::new(right))),
        ]
    })
}

/// The precedence of the outermost operator: 0 additive, 1 multiplicative, 2 a single operand.
fn precedence(sum: &Sum) -> u8 {
    match sum {
        Sum::Two(_, '+' | '-', _) => 0,
        Sum::Two(..) => 1,
        Sum::Number(_) | Sum::Minus(_) => 2,
    }
}

/// Prints a sum with as few parentheses as precedence allows; a precedence below `least` needs them.
fn print_sum(sum: &Sum, least: u8) -> String {
    let own = precedence(sum);
    let text = match sum {
        Sum::Number(number) => number.to_string(),
        Sum::Minus(inner) => format!("-{}", print_sum(inner, 2)),
        Sum::Two(left, sign, right) => format!("{} {sign}{}", print_sum(left, own), print_sum(right, own + 1)),
    };
    if own < least { format!("({text})") } else { text }
}

/// Computes a sum in 128 bits. A result that does not fit in 64 bits is an overflow.
fn compute_wide(sum: &Sum) -> Result<i128, Trouble<'static>> {
    let exact = match sum {
        Sum::Number(number) => i128::from(*number),
        Sum::Minus(inner) => -compute_wide(inner)?,
        Sum::Two(left, sign, right) => {
            let (left, right) = (compute_wide(left)?, compute_wide(right)?);
            match sign {
                '+' => left + right,
                '-' => left - right,
                '*' => left * right,
                _ => left.checked_div(right).ok_or(Trouble::Division)?,
            }
        }
    };
    if i64::try_from(exact).is_ok() { Ok(exact) } else { Err(Trouble::Overflow) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_calculator_agrees_with_wider_arithmetic(sum in sum()) {
        let line = print_sum(&sum, 0);
        let computed = answer(line.as_bytes(), &mut Names::default());
        let expected = compute_wide(&sum).map(|value| Answer::Value(i64::try_from(value).expect("the value fits in 64 bits")));
        prop_assert!(computed == expected, "{line}: {computed:?}, not {expected:?}");
    }

    #[test]
    fn a_stored_result_is_the_result(sum in sum()) {
        let mut names = Names::default();
        let line = print_sum(&sum, 0);
        let value = answer(line.as_bytes(), &mut Names::default());
        let is_stored = answer(format!("x={line}").as_bytes(), &mut names).is_ok();
        prop_assert_eq!(is_stored, value.is_ok());
        if let Ok(value) = value {
            prop_assert_eq!(answer(b"x", &mut names), Ok(value));
        }
    }

    #[test]
    fn any_bytes_have_an_answer(line in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(trouble) = answer(&line, &mut Names::default()) {
            prop_assert!(trouble.to_string().len() < 100);
        }
    }
}
