/// A string that equals another only where the bytes do.
///
/// `String` also calls two spellings of one character equal (é, and e with an accent); JSON does not.
struct ExactString: Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ExactString, right: ExactString) -> Bool { isSame(left.text, right.text) }

    /// Whether two texts have the same bytes.
    ///
    /// What `String` calls different is; its comparison is one of words or memory, so it goes first.
    static func isSame(_ left: String, _ right: String) -> Bool {
        left == right && left.utf8.elementsEqual(right.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { bytes in unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
    }
}
