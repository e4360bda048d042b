//! Operations as agents ask for them.

use hashline_anchor::{OpName, Operation, OperationError, OperationProblem, RawOperation, content_lines};

fn parse(raw: RawOperation) -> Result<Operation, OperationProblem> {
    Operation::parse(3, raw).map_err(|OperationError { index, name, problem }| {
        assert_eq!(index, 3);
        assert_eq!(name.is_none(), matches!(problem, OperationProblem::UnknownOp { .. }));
        problem
    })
}

#[test]
fn names() {
    for op in OpName::ALL {
        assert_eq!(op.as_str().parse(), Ok(op));
        assert_eq!(op.to_string().to_uppercase().replace('_', "-").parse(), Ok(op));
    }
    let error = Operation::parse(1, RawOperation::new("remove", "1:25")).unwrap_err();
    assert!(error.to_string().starts_with("operation 2: there is no operation \"remove\""), "{error}");
}

#[test]
fn an_end_makes_a_range() {
    let one = RawOperation::new("replace", "1:d3").content("x");
    let range = RawOperation::new("replace_range", "1:d3").end("3:88").content("x");
    assert_eq!(parse(one.clone()).unwrap().name(), OpName::Replace);
    for raw in [
        range.clone(),
        one.clone().end("3:88"),
        RawOperation::new("replace", "1:d3..3:88").content("x"),
        RawOperation::new("replace_range", "1:d3..3:88").end("3:88|}").content("x\n"),
        RawOperation::new("Replace-Range", "1:d3..3:88").end(" ").content("x"),
    ] {
        let operation = parse(raw).unwrap();
        assert_eq!(operation.name(), OpName::ReplaceRange);
        assert_eq!(operation.content(), ["x"]);
    }
    assert_eq!(parse(RawOperation::new("delete", "1:d3").end("3:88")).unwrap().name(), OpName::DeleteRange);
    assert_eq!(parse(RawOperation::new("delete", "1:d3").content("")).unwrap().name(), OpName::Delete);
}

#[test]
fn refusals_say_what_is_wrong() {
    use OperationProblem as P;
    let raw = RawOperation::new;
    for (raw, problem) in [
        (raw("replace_range", "1:d3").content("x"), P::NoEnd),
        (raw("delete_range", "1:d3"), P::NoEnd),
        (raw("delete_range", "1:d3").end(""), P::NoEnd),
        (raw("replace", "1:d3"), P::NoContent),
        (raw("insert_after", "0:"), P::NoContent),
        (raw("delete", "1:d3").content("x"), P::ContentOnDelete),
        (raw("delete", "1:d3").content("\n"), P::ContentOnDelete),
        (raw("insert_after", "1:d3").end("2:98").content("x"), P::EndOnInsert),
        (raw("insert_before", "1:d3..2:98").content("x"), P::EndOnInsert),
        (raw("insert_before", "0:").content("x"), P::StartIsNoLine),
        (raw("replace", "0:").content("x"), P::StartIsNoLine),
        (raw("delete", "0:").end("1:d3"), P::StartIsNoLine),
        (raw("delete", "1:d3").end("0:"), P::StartIsNoLine),
        (raw("replace", "1:d3..3:88").end("4:88").content("x"), P::TwoEnds),
        (raw("delete", " "), P::NoAnchor),
        (RawOperation { op: "delete".into(), ..RawOperation::default() }, P::NoAnchor),
    ] {
        let words = problem.to_string();
        assert!(words.len() > 40, "says what to do: {words}");
        assert_eq!(parse(raw.clone()), Err(problem), "{raw:?}");
    }
    assert!(matches!(parse(raw("delete", "x")), Err(P::BadAnchor(_))));
    assert!(matches!(parse(raw("delete", "1:d3").end("1:d3..2:98")), Err(P::BadEnd(_))));
    let error = Operation::parse(0, raw("delete", "1:d3").end("x")).unwrap_err().to_string();
    assert!(error.starts_with("operation 1 (delete): in end_anchor: the anchor \"x\" "), "{error}");
}

#[test]
fn content_is_lines() {
    for (content, lines) in [
        ("", vec![""]),
        ("a", vec!["a"]),
        ("a\n", vec!["a"]),
        ("a\r\n", vec!["a"]),
        ("a\r", vec!["a"]),
        ("\n", vec![""]),
        ("\n\n", vec!["", ""]),
        ("a\n\n", vec!["a", ""]),
        ("a\r\nb\rc\nd", vec!["a", "b", "c", "d"]),
        ("\na", vec!["", "a"]),
        ("a\u{b}b\u{2028}c", vec!["a\u{b}b\u{2028}c"]),
    ] {
        assert_eq!(content_lines(content), lines, "{content:?}");
    }
}
