import Testing
import Time

@Suite("Dates of HTTP") struct HTTPDateTests {
    static let moment = UnixTime(seconds: 784_111_777)

    @Test("the three forms of RFC 9110 §5.6.7 are read")
    func forms() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", Self.moment.httpDate,
        ] {
            #expect(UnixTime(httpDate: text) == Self.moment, "\(text)")
        }
        #expect(
            UnixTime(httpDate: "Tuesday, 01-Dec-26 03:00:00 GMT") == UnixTime(httpDate: "Tue, 01 Dec 2026 03:00:00 GMT")
        )
    }

    @Test(
        "anything else is no date",
        arguments: [
            "", "120", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37Z GMT",
            "06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z",
        ])
    func others(text: String) { #expect(UnixTime(httpDate: text) == nil) }
}
