//! Deliveries whose cause the editor says late, with something else, or never.

use super::*;

#[test]
fn the_editors_mark_of_a_delivery_counts_directly_after_its_change_too() {
    let (mut desk, hunk, delivery) = on_its_way();
    changes(&mut desk, Says::After, Cause::Delivery(delivery.number), &made(&delivery));
    assert_eq!(how(&mut desk, &hunk), ACCEPTED, "before it is answered");
    desk.document.answered(delivery.number, true, desk.now);
    assert_eq!((how(&mut desk, &hunk), desk.poll()), (ACCEPTED, None));
    is_told(&desk, 0);
}

#[test]
fn a_delivery_whose_cause_is_lost_counts_by_its_text() {
    for types in [false, true] {
        let (mut desk, hunk, delivery) = on_its_way();
        desk.notify(&made(&delivery));
        assert_eq!(how(&mut desk, &hunk), ACCEPTED, "it is to the letter what was sent for this text");
        if types {
            desk.types(0, "zero ");
        }
        desk.document.answered(delivery.number, true, desk.now);
        desk.settle();
        assert!(desk.text().ends_with("one\n2\nthree\n"));
        assert_eq!(how(&mut desk, &hunk), ACCEPTED);
        // It can be undone as any other.
        let changes = if types { vec![at(0, 0, (0, 5), ""), back()] } else { vec![back()] };
        for change in changes {
            desk.caused(UNDO, &[change]);
        }
        assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (TEXT, HELD));
        is_told(&desk, 0);
    }
}

#[test]
fn a_delivery_whose_cause_is_lost_and_that_is_answered_first_counts_by_its_text() {
    let (mut desk, hunk, delivery) = on_its_way();
    desk.document.answered(delivery.number, true, desk.now);
    desk.notify(&made(&delivery));
    desk.settle();
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (EDITED, ACCEPTED));
    is_told(&desk, 0);
}

#[test]
fn a_delivery_whose_cause_is_lost_is_known_whatever_comes_before_its_answer() {
    let (mut desk, hunk, delivery) = on_its_way();
    desk.notify(&made(&delivery));
    let above = desk.replace(1, "two", Mode::Propose);
    desk.document.answered(delivery.number, true, desk.now);
    desk.settle();
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (EDITED, ACCEPTED), "an edit on top");
    assert_eq!(how(&mut desk, &above), HELD);

    let (mut desk, hunk, delivery) = on_its_way();
    desk.notify(&made(&delivery));
    desk.document.close(desk.now);
    assert_eq!(how(&mut desk, &hunk), ACCEPTED, "closed");

    // A plugin that has refused it has not made it; the text reads so all the same, and is not to have it twice.
    let (mut desk, hunk, delivery) = on_its_way();
    desk.notify(&made(&delivery));
    desk.document.answered(delivery.number, false, desk.now);
    desk.settle();
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (EDITED, ACCEPTED));
    is_told(&desk, 0);
}

#[test]
fn the_mark_of_a_delivery_that_is_known_already_may_come_after_the_next_key() {
    let (mut desk, hunk, delivery) = on_its_way();
    desk.notify(&made(&delivery));
    desk.types(0, "x");
    desk.says(-1, Cause::Delivery(delivery.number));
    assert_eq!(how(&mut desk, &hunk), ACCEPTED);
    is_told(&desk, 0);
}

#[test]
fn a_refused_delivery_that_the_person_types_later_is_typed() {
    let (mut desk, hunk, delivery) = on_its_way();
    desk.document.answered(delivery.number, false, desk.now);
    desk.notify(&made(&delivery));
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (EDITED, TYPED_OVER));
    is_told(&desk, 0);
}

#[test]
fn a_delivery_whose_cause_is_lost_is_known_with_the_editors_own_endings() {
    let mut desk = Desk::with_plugin("one\r\ntwo\nthree\r\n");
    let hunk = desk.replace(1, "2", Mode::Propose);
    desk.decide(&hunk, Choice::Accept, None).unwrap();
    let delivery = desk.poll().unwrap();
    let mut changes = made(&delivery);
    changes.iter_mut().for_each(|change| change.text = change.text.replace('\n', "\r\n"));
    desk.notify(&[&changes[..], &[at(0, 0, (0, 0), "zero ")]].concat());
    desk.document.answered(delivery.number, true, desk.now);
    desk.settle();
    assert_eq!(how(&mut desk, &hunk), ACCEPTED);
    assert_eq!(desk.text().matches('2').count(), 1);
}

#[test]
fn a_delivery_with_typing_behind_it_in_one_notification_counts_after_its_change_too() {
    for says in [Says::After, Says::Never] {
        let (mut desk, hunk, delivery) = on_its_way();
        let merged = [&made(&delivery)[..], &[at(0, 0, (0, 0), "zero ")]].concat();
        changes(&mut desk, says, Cause::Delivery(delivery.number), &merged);
        desk.document.answered(delivery.number, true, desk.now);
        desk.settle();
        assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), ("zero one\n2\nthree\n", ACCEPTED));
        is_told(&desk, 0);
    }
}

#[test]
fn a_delivery_that_came_with_typing_is_known_whatever_comes_before_its_answer() {
    enum Meanwhile {
        Published,
        TakenBack,
        Withdrawn,
    }
    for meanwhile in [Meanwhile::Published, Meanwhile::TakenBack, Meanwhile::Withdrawn] {
        let (mut desk, hunk, delivery) = on_its_way();
        let (mut proposed, proposal) = desk.propose(&[(2, Some("3"))], Mode::Propose, "conv_b");
        if matches!(meanwhile, Meanwhile::Withdrawn) {
            desk.document.publish(&mut proposed, &proposal);
        }
        desk.notify(&[&made(&delivery)[..], &[at(0, 0, (0, 0), "zero ")]].concat());
        match meanwhile {
            Meanwhile::Published => desk.document.publish(&mut proposed, &proposal),
            Meanwhile::TakenBack => desk.document.withdraw_provisional(&proposed),
            Meanwhile::Withdrawn => desk.document.withdraw(&proposal.id),
        }
        desk.document.answered(delivery.number, true, desk.now);
        desk.settle();
        assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), ("zero one\n2\nthree\n", ACCEPTED));
        let other = HunkRef { edit: proposal.id, number: 1 };
        match meanwhile {
            Meanwhile::Published => assert_eq!(how(&mut desk, &other), HELD),
            Meanwhile::TakenBack => assert_eq!(desk.document.edits().iter().count(), 1),
            Meanwhile::Withdrawn => assert_eq!(how(&mut desk, &other).1, Decision::Withdrawn),
        }
        // The typing and the delivery can be undone one by one.
        desk.caused(UNDO, &[at(0, 0, (0, 5), "")]);
        assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (EDITED, ACCEPTED));
        is_undone(&mut desk, &hunk);
        is_told(&desk, 0);
    }
}

#[test]
fn a_delivery_that_came_with_typing_is_known_where_its_answer_never_comes() {
    let (mut desk, hunk, delivery) = on_its_way();
    desk.notify(&[&made(&delivery)[..], &[at(0, 0, (0, 0), "zero ")]].concat());
    desk.document.close(desk.now);
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), ("zero one\n2\nthree\n", ACCEPTED));
}

/// The change that comes behind a delivery, and before it is told of.
fn overtakes(desk: &mut Desk) {
    let formatted = at(0, 0, (3, 0), "  one\n2\n  three\n");
    desk.version += 2;
    desk.document.change(DocVersion(desk.version), &[formatted], desk.now).unwrap();
}

#[test]
fn a_delivery_is_known_by_its_cause_though_a_later_change_came_first() {
    let (mut desk, hunk, delivery) = on_its_way();
    overtakes(&mut desk);
    desk.says(-1, Cause::Delivery(delivery.number));
    assert_eq!(how(&mut desk, &hunk), ACCEPTED);
    let version = DocVersion(desk.version - 1);
    desk.document.change(version, &made(&delivery), desk.now).unwrap_err();
    desk.notify(&[whole("  one\n2\n  three\n")]);
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), ("  one\n2\n  three\n", ACCEPTED));
    is_told(&desk, 0);
}

#[test]
fn a_delivery_is_known_by_its_answer_though_a_later_change_came_first() {
    let (mut desk, hunk, delivery) = on_its_way();
    overtakes(&mut desk);
    assert_eq!(how(&mut desk, &hunk), TYPED_OVER);
    desk.document.answered(delivery.number, true, desk.now);
    assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), ("  one\n2\n  three\n", ACCEPTED));
}

#[test]
fn a_delivery_that_was_refused_is_not_in_a_later_change() {
    let (mut desk, hunk, delivery) = on_its_way();
    overtakes(&mut desk);
    desk.document.answered(delivery.number, false, desk.now);
    assert_eq!(how(&mut desk, &hunk), TYPED_OVER);
}

#[test]
fn nothing_is_recorded_on_top_of_what_only_an_answer_can_tell() {
    let (mut desk, hunk, delivery) = on_its_way();
    assert!(!desk.document.awaits_answer());
    desk.notify(&[&made(&delivery)[..], &[at(0, 0, (0, 0), "zero ")]].concat());
    assert!(desk.document.awaits_answer());
    let refused = desk.tries(2, "3");
    assert!(matches!(refused, Err(Refused::Unanswered { .. })), "{refused:?}");
    desk.document.answered(delivery.number, true, desk.now);
    assert!(!desk.document.awaits_answer());
    let other = desk.replace(2, "3", Mode::Propose);
    assert_eq!((how(&mut desk, &hunk), how(&mut desk, &other)), (ACCEPTED, HELD));
}

#[test]
fn a_delivery_that_was_given_up_is_known_when_its_change_comes_after_all() {
    let zero = at(0, 0, (0, 0), "zero ");
    for says in [Says::Before, Says::After, Says::Never] {
        for (behind, text) in [(None, EDITED), (Some(&zero), "zero one\n2\nthree\n")] {
            for sends_again in [false, true] {
                let about = format!("{says:?}, {text:?}, sent again: {sends_again}");
                let (mut desk, hunk, delivery) = on_its_way();
                desk.document.answered(delivery.number, true, desk.now);
                desk.now = desk.document.next_poll().unwrap();
                assert_eq!(desk.poll(), None, "{about}: it is given up");
                let again = sends_again.then(|| {
                    desk.now = desk.document.next_poll().unwrap();
                    desk.poll().unwrap()
                });
                let all: Vec<_> = made(&delivery).into_iter().chain(behind.cloned()).collect();
                changes(&mut desk, says, Cause::Delivery(delivery.number), &all);
                assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (text, ACCEPTED), "{about}");
                if let Some(again) = again {
                    // The text is another by now.
                    desk.document.answered(again.number, false, desk.now);
                }
                desk.carries_out();
                assert_eq!((desk.text().as_str(), how(&mut desk, &hunk)), (text, ACCEPTED), "{about}");
                is_told(&desk, 0);
            }
        }
    }
}
